//! The phases of an operation on the bus and in the array, in sequence.

/// Most different phases that an operation has: a copy over the bus that fills a block with a
/// summary, or that is programmed in two passes.
const PHASES_MAX: usize = 7;

/// The kinds of phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Commands and addresses on the bus.
    Command,
    /// Data comes in over the bus.
    DataIn,
    /// Data goes out over the bus.
    DataOut,
    /// The array reads.
    Read,
    /// The array programs.
    Program,
    /// The array erases.
    Erase,
    /// Copies, and an erase after them, where nothing can come between.
    Collection,
    /// The array suspends an operation, or resumes it.
    Switch,
    /// The array rests, and the unit stays taken.
    Rest,
}

/// The kinds by their numbers; those without a meaning of their own fill the four bits.
const KINDS: [Kind; 16] = [
    Kind::Command,
    Kind::DataIn,
    Kind::DataOut,
    Kind::Read,
    Kind::Program,
    Kind::Erase,
    Kind::Collection,
    Kind::Switch,
    Kind::Rest,
    Kind::Rest,
    Kind::Rest,
    Kind::Rest,
    Kind::Rest,
    Kind::Rest,
    Kind::Rest,
    Kind::Rest,
];

impl Kind {
    /// Whether the phase needs the bus.
    #[inline(always)]
    pub fn is_on_bus(self) -> bool {
        matches!(self, Kind::Command | Kind::DataIn | Kind::DataOut)
    }

    /// Whether the array works in it.
    #[inline(always)]
    pub fn is_in_array(self) -> bool {
        !self.is_on_bus() && self != Kind::Rest
    }
}

/// A phase of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its kind.
    pub kind: Kind,
    /// Its duration, in ns.
    pub ns: u64,
}

/// The phases of an operation, in order. Phases of no length are omitted.
#[derive(Clone, Copy, Debug)]
pub struct Phases {
    ns: [u64; PHASES_MAX],
    /// One word, so that a copy is never read in other parts than it was written: four bits for the
    /// kind of each phase, then a byte each for their number, the place of the first program, and
    /// how often the last two of them come again.
    meta: u64,
}

const KIND_BITS: u32 = 4;
const COUNT_AT: u32 = 32;
const PROGRAM_AT: u32 = 40;
const AGAIN_AT: u32 = 48;
/// Phases that come again together: the transfer of a pass, and its program.
const PASS: u8 = 2;
const NONE: u8 = u8::MAX;

impl Phases {
    /// An operation without phases.
    #[inline(always)]
    pub fn new() -> Self {
        Phases { ns: [0; PHASES_MAX], meta: (NONE as u64) << PROGRAM_AT }
    }

    /// These phases, with one more.
    #[inline(always)]
    #[must_use]
    pub fn then(mut self, kind: Kind, ns: u64) -> Self {
        self.add(kind, ns);
        self
    }

    /// Adds a phase.
    #[inline(always)]
    pub fn add(&mut self, kind: Kind, ns: u64) {
        if ns == 0 {
            return;
        }
        let at = self.count();
        if kind == Kind::Program && self.program_at() == NONE {
            self.meta &= !(u64::from(NONE) << PROGRAM_AT);
            self.meta |= u64::from(at) << PROGRAM_AT;
        }
        self.meta |= (kind as u64) << (KIND_BITS * u32::from(at));
        self.meta += 1 << COUNT_AT;
        self.ns[at as usize] = ns;
    }

    /// Adds the phases of another operation, from this number on. Nothing is added behind them.
    pub fn append(&mut self, other: &Phases, from: u8) {
        let left = other.count().saturating_sub(from);
        let again = other.again().min(left.saturating_sub(PASS) / PASS);
        for phase in (from..from + left - again * PASS).filter_map(|at| other.get(at)) {
            self.add(phase.kind, phase.ns);
        }
        self.repeat(again);
    }

    /// The last two phases, a transfer and its program, come this many times: they may be none.
    pub fn set_passes(&mut self, passes: u8) {
        debug_assert_eq!(self.again(), 0, "the passes are set once");
        if passes > 0 {
            return self.repeat(passes - 1);
        }
        let left = self.count() - PASS;
        let kinds = (1 << (KIND_BITS * u32::from(left))) - 1;
        self.meta &= kinds | u64::from(NONE) << PROGRAM_AT;
        self.meta |= u64::from(left) << COUNT_AT;
    }

    fn repeat(&mut self, again: u8) {
        self.meta += u64::from(again) << AGAIN_AT;
        self.meta += u64::from(again * PASS) << COUNT_AT;
    }

    /// The number of repetitions of the last two phases.
    #[inline(always)]
    fn again(&self) -> u8 {
        (self.meta >> AGAIN_AT) as u8
    }

    /// The place of a phase of this number among the different ones.
    #[inline(always)]
    fn place(&self, at: u8) -> u8 {
        if self.again() == 0 { at } else { self.place_of_pass(at) }
    }

    #[cold]
    fn place_of_pass(&self, at: u8) -> u8 {
        let first = self.count() - (self.again() + 1) * PASS;
        if at < first { at } else { first + (at - first) % PASS }
    }

    /// Number of phases.
    #[inline(always)]
    pub fn count(&self) -> u8 {
        (self.meta >> COUNT_AT) as u8
    }

    /// The phase of this number, if the operation has it.
    #[inline(always)]
    pub fn get(&self, at: u8) -> Option<Phase> {
        if at >= self.count() {
            return None;
        }
        let at = self.place(at);
        let kind = (self.meta >> (KIND_BITS * u32::from(at))) as usize % KINDS.len();
        Some(Phase { kind: KINDS[kind], ns: self.ns[at as usize] })
    }

    /// The place of the first program; beyond the last phase where there is none.
    #[inline(always)]
    pub fn program_at(&self) -> u8 {
        (self.meta >> PROGRAM_AT) as u8
    }

    fn place_of(&self, kind: Kind) -> Option<u8> {
        (0..self.count()).find(|&at| self.get(at).is_some_and(|phase| phase.kind == kind))
    }

    /// Sets the length of the first phase of this kind, where there is one.
    pub fn set(&mut self, kind: Kind, ns: u64) {
        debug_assert!(ns > 0, "a phase of no length");
        if let Some(at) = self.place_of(kind) {
            self.ns[at as usize] = ns;
        }
    }

    /// Makes the first phase of this kind longer, where there is one.
    pub fn lengthen(&mut self, kind: Kind, ns: u64) {
        if let Some(at) = self.place_of(kind) {
            self.ns[at as usize] += ns;
        }
    }

    /// Programs that failed before make the first one longer by this time, in ns.
    #[inline(always)]
    pub fn program_again(&mut self, failed_ns: u64) {
        if failed_ns > 0 {
            self.make_program_longer(failed_ns);
        }
    }

    #[cold]
    #[inline(never)]
    fn make_program_longer(&mut self, ns: u64) {
        self.lengthen(Kind::Program, ns);
    }

    /// The phases from this one on.
    #[inline]
    pub fn from(&self, first: u8) -> impl Iterator<Item = Phase> + '_ {
        (first..self.count()).filter_map(|at| self.get(at))
    }

    /// Time from start to end when nothing makes it wait, in ns.
    #[inline]
    pub fn total_ns(&self) -> u64 {
        let mut ns = 0;
        for phase in self.from(0) {
            ns += phase.ns;
        }
        ns
    }

    /// Time in the array, in ns.
    pub fn array_ns(&self) -> u64 {
        self.from(0).filter(|phase| phase.kind.is_in_array()).map(|phase| phase.ns).sum()
    }
}

impl Default for Phases {
    fn default() -> Self {
        Phases::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_of_no_length_are_left_out() {
        let phases = Phases::new()
            .then(Kind::Command, 0)
            .then(Kind::Read, 25_000)
            .then(Kind::DataOut, 100)
            .then(Kind::Rest, 7);
        assert_eq!(phases.get(0), Some(Phase { kind: Kind::Read, ns: 25_000 }));
        assert_eq!(phases.get(1), Some(Phase { kind: Kind::DataOut, ns: 100 }));
        assert_eq!((phases.count(), phases.get(3)), (3, None));
        assert_eq!((phases.total_ns(), phases.array_ns()), (25_107, 25_000));
    }

    #[test]
    fn the_last_pass_comes_again() {
        let passes = |passes| {
            let mut phases = Phases::new()
                .then(Kind::DataIn, 1)
                .then(Kind::Program, 10)
                .then(Kind::DataIn, 2)
                .then(Kind::Program, 20);
            phases.set_passes(passes);
            phases
        };
        let all = |phases: &Phases, from| -> Vec<u64> {
            phases.from(from).map(|phase| phase.ns).collect()
        };
        assert_eq!(all(&passes(0), 0), [1, 10]);
        assert_eq!(all(&passes(1), 0), [1, 10, 2, 20]);
        assert_eq!(all(&passes(3), 0), [1, 10, 2, 20, 2, 20, 2, 20]);
        assert_eq!((passes(3).total_ns(), passes(3).array_ns()), (77, 70));
        assert_eq!(passes(3).get(7), Some(Phase { kind: Kind::Program, ns: 20 }));
        assert_eq!((passes(3).program_at(), passes(0).get(2)), (1, None));
        // The rest from each of them on, behind another phase.
        for from in 0..=8 {
            let mut rest = Phases::new().then(Kind::Switch, 5);
            rest.append(&passes(3), from);
            assert_eq!(all(&rest, 1), all(&passes(3), from), "from {from}");
        }
    }

    #[test]
    fn a_phase_gets_another_length() {
        let mut phases = Phases::new()
            .then(Kind::Command, 5)
            .then(Kind::Read, 10)
            .then(Kind::Command, 7)
            .then(Kind::Program, 20);
        phases.set(Kind::Program, 30);
        assert_eq!((phases.total_ns(), phases.array_ns()), (52, 40));
        assert_eq!((phases.program_at(), Phases::new().program_at()), (3, NONE));
        assert_eq!(phases.place_of(Kind::Erase), None);
    }
}
