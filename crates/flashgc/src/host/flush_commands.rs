//! Flush commands: the host asks that the writes that are done survive a loss of power.
//! A write with forced unit access (FUA) asks that for itself.
//!
//! A write is done when it is programmed or in the write buffer. A buffer with power-loss
//! protection keeps its pages, and so a flush is done at once. From one without, a flush covers
//! each page whose data is there when the flush comes:
//! 1. A page that no flush takes to flash yet is taken now.
//! 2. Its program ends, and the command no longer waits for it. Where the page was rewritten while
//!    an older version was programmed, before the command came, it is programmed once more.
//! 3. A page that the host trims needs no program.
//!
//! When no page is left, the command is done. A FUA write becomes such a command for its own pages
//! when the last of them is in the buffer.
//!
//! Where programs join pages, a flush takes pages that wait along, and pads the rest of its program
//! (docs/mapping-unit.md#without-power-loss-protection).

use super::buffered::Unsafe;
use super::flush_command::{FlushCommand, Forced};
use super::{FLUSH, Host, OpKind, Served};
use crate::context::Context;
use crate::ids::Lpn;
use crate::verify::{Happened, Watch};
use crate::workload::HostRequest;

impl Host {
    /// A flush command has come in.
    #[cold]
    #[inline(never)]
    pub(super) fn flush_comes<W: Watch>(&mut self, id: u32, cx: &mut Context<'_, W>) {
        cx.notify(Happened::FlushComes { request: id });
        let buffer = self.buffer.as_ref().filter(|buffer| !buffer.plan.is_protected);
        let pages: Vec<Unsafe> = buffer.iter().flat_map(|it| it.pages.unsafe_pages()).collect();
        self.command_comes(id, &pages);
        self.end_flush_commands(cx);
    }

    /// A FUA write has come, whose pages must survive.
    #[cold]
    #[inline(never)]
    pub(super) fn note_forced(&mut self, id: u32, request: &HostRequest) {
        if self.buffer.as_ref().is_some_and(|buffer| !buffer.plan.is_protected) {
            let &HostRequest { first, pages, .. } = request;
            self.forced.push(Forced { id, first, pages });
        }
    }

    /// All pages of a write are in the buffer. If it is a FUA write, it is done when flash has
    /// them. Returns whether it waits for that.
    #[cold]
    #[inline(never)]
    pub(super) fn awaits_flash<W: Watch>(&mut self, id: u32, cx: &mut Context<'_, W>) -> bool {
        let Some(at) = self.forced.iter().position(|forced| forced.id == id) else { return false };
        let Forced { first, pages, .. } = self.forced.swap_remove(at);
        let Some(buffer) = &self.buffer else { return false };
        let own = (first.0..first.0 + pages).map(Lpn);
        let left: Vec<Unsafe> = own.filter_map(|lpn| buffer.pages.unsafe_page(lpn)).collect();
        if left.is_empty() {
            return false;
        }
        cx.notify(Happened::AwaitsFlash { request: id });
        self.command_comes(id, &left);
        true
    }

    /// A command waits for these pages. Those that nothing flushes yet go to flash now.
    fn command_comes(&mut self, id: u32, pages: &[Unsafe]) {
        let mut command = FlushCommand::new(id);
        command.left.extend(pages.iter().map(|page| (page.lpn.0, page.programs)));
        self.flush_commands.push(command);
        let free = pages.iter().filter(|page| page.is_free).map(|page| page.lpn);
        self.flush_pages(&free.collect::<Vec<_>>());
    }

    /// These pages go to flash, as many at once as a program joins.
    pub(super) fn flush_pages(&mut self, pages: &[Lpn]) {
        let Some(buffer) = &mut self.buffer else { return };
        for joined in pages.chunks(buffer.slots as usize) {
            let flush = self.waiting.add(joined[0], FLUSH, OpKind::Write, false);
            joined.iter().for_each(|&lpn| buffer.pages.flush_waits(lpn, flush));
            buffer.joined.add(flush, joined.iter().copied());
            self.flushes.push_back(flush);
            self.has_to_place = true;
        }
    }

    /// A flush that fills no program begins: pages that nothing flushes go along, as many as there
    /// is room for; of this class, where they have any.
    pub fn fill_up(&mut self, flush: u32, room: u32, class: Option<u8>) {
        let Some(buffer) = &mut self.buffer else { return };
        let more = room as usize - buffer.joined.pages(flush).len();
        let mut pages = std::mem::take(&mut self.to_flush);
        pages.clear();
        let is_of_class = |lpn: &Lpn| class.is_none() || buffer.pages.class(*lpn) == class;
        pages.extend(buffer.pages.next_to_flush().filter(is_of_class).take(more));
        for &lpn in &pages {
            buffer.pages.flush_waits(lpn, flush);
            buffer.joined.join(flush, lpn);
        }
        self.to_flush = pages;
    }

    /// A program of a page has ended, and the page has the data of a later write, if any. Returns
    /// whether that has to go to flash now.
    pub(super) fn page_is_safe<W: Watch>(&mut self, lpn: Lpn, cx: &mut Context<'_, W>) -> bool {
        self.flush_commands.iter_mut().for_each(|command| command.programmed(lpn, false));
        let must_go_on = self.must_go(lpn);
        self.end_flush_commands(cx);
        must_go_on
    }

    /// The host trims a page: its data need not survive. The commands that waited for it end as
    /// soon as it is trimmed.
    pub(super) fn page_is_trimmed(&mut self, lpn: Lpn) {
        self.flush_commands.iter_mut().for_each(|command| command.programmed(lpn, true));
    }

    /// Whether a command waits for a page that nothing takes to flash yet.
    #[inline]
    pub(super) fn must_go(&self, lpn: Lpn) -> bool {
        let is_free = || self.buffer.as_ref().is_some_and(|buffer| buffer.pages.is_free(lpn));
        self.is_awaited(lpn) && is_free()
    }

    /// Whether a command waits for a page.
    #[inline]
    pub(super) fn is_awaited(&self, lpn: Lpn) -> bool {
        self.flush_commands.iter().any(|it| it.left.contains_key(&lpn.0))
    }

    /// The commands that wait for no page are done.
    pub fn end_flush_commands<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        while let Some(at) = self.flush_commands.iter().position(|it| it.left.is_empty()) {
            let FlushCommand { id, .. } = self.flush_commands.remove(at);
            let served: Served = self.request_done(id, cx);
            self.served.push(served);
        }
    }
}
