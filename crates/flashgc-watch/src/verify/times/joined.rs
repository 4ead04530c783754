//! The array time of copies whose slots one program joins, and of whole collections.

use super::touched::Bound;
use super::{Lane, Times};
use flashgc_model::ids::Ppn;

impl Times {
    /// An independent plane read covers one flash page, of which the host may read several slots.
    pub(super) fn is_one_page(&self, now_ns: u64, lane: &Lane) {
        let mut pages = lane.host.iter().map(|page| page.ppn.0 / self.slots);
        let first = pages.next();
        assert!(
            first.is_some() && pages.all(|page| Some(page) == first),
            "at {now_ns} ns a read of one plane ended that was not of one flash page"
        );
    }

    /// Slots that one program joins: each flash page that was not read before is read by itself, or
    /// with those before it of the same number in planes in step.
    pub(super) fn joined_ns(
        &mut self,
        last_read: &mut Option<u32>,
        copies: &[Bound],
    ) -> (u64, u64) {
        // The controller keeps slots that do not fill a program.
        let full = self.of_full_program(copies);
        let (mut ns, mut phases) =
            if full.is_empty() { (0, 1) } else { self.register_ns(&full, &[]) };
        if self.is_whole(copies) {
            // A whole program moves within its plane, and the controller keeps the remaining slots.
            let from: Vec<_> = copies.iter().map(|copy| copy.from).collect();
            return (
                ns + self.each_ns(self.corrects(), &from),
                1 + u64::from(self.program_slots / self.slots),
            );
        }
        self.renew(copies);
        let mut pages: Vec<Ppn> = copies.iter().map(|copy| copy.from).collect();
        pages.retain(|page| last_read.replace(page.0 / self.slots) != Some(page.0 / self.slots));
        ns += self.each_ns(true, &pages);
        phases += pages.len() as u64;
        (ns, phases)
    }

    /// The copies whose program is full: slots of other classes wait in the controller.
    pub(super) fn of_full_program(&self, copies: &[Bound]) -> Vec<Bound> {
        if self.program_slots == 1 {
            return copies.to_vec();
        }
        let full = copies.iter().find(|copy| self.ends_program(copy.to));
        let Some(full) = full.map(|copy| copy.to.0 / self.program_slots) else { return Vec::new() };
        let is_in_it = |copy: &&Bound| copy.to.0 / self.program_slots == full;
        copies.iter().filter(is_in_it).copied().collect()
    }

    /// Whether these are the slots of a whole program, which moves within its plane.
    fn is_whole(&self, copies: &[Bound]) -> bool {
        let program = |copy: &Bound| copy.from.0 / self.program_slots;
        copies.len() == self.program_slots as usize
            && copies.windows(2).all(|pair| program(&pair[0]) == program(&pair[1]))
    }

    /// The controller joined these copies, and corrected them.
    pub(super) fn renew(&mut self, copies: &[Bound]) {
        if let Some(rereads) = &mut self.rereads {
            copies.iter().for_each(|copy| rereads.renews(copy.to));
        }
    }

    /// All copies of a collection, step by step: each step takes from one list. None pays for a
    /// summary.
    pub(super) fn all_ns(&self, copies: &[Bound]) -> (u64, u64) {
        let list = |copy: &Bound| copy.from.0 / self.list_pages;
        let lists = copies.chunk_by(|a, b| list(a) == list(b));
        let steps = lists.flat_map(|list| list.chunks(self.at_once));
        let (mut ns, mut phases) = (0, 0);
        for step in steps {
            ns += self.read_ns(&self.collection, false, step.iter().map(|copy| copy.from));
            ns += self.program_ns(&self.collection, step.iter().map(|copy| copy.to));
            phases += 2;
        }
        (ns, phases)
    }
}
