//! Flush commands: the host asks that the writes that are done survive a loss of power.
//!
//! A write is done when it is programmed or in the write buffer. A buffer with power-loss
//! protection keeps its pages, and so a flush is done at once. From one without, a flush covers
//! each page whose data is there when the flush comes:
//! 1. A page that no flush takes to flash yet is taken now.
//! 2. Its program ends, and the command no longer waits for it. Where the page was rewritten while
//!    an older version was programmed, before the command came, it is programmed once more.
//! 3. A page that the host trims needs no program.
//!
//! When no page is left, the command is done.

use super::flush_command::FlushCommand;
use super::{FLUSH, Host, OpKind};
use crate::context::Context;
use crate::ids::Lpn;
use crate::verify::{Happened, Watch};

impl Host {
    /// A flush command has come in.
    #[cold]
    #[inline(never)]
    pub(super) fn flush_comes<W: Watch>(&mut self, id: u32, cx: &mut Context<'_, W>) {
        cx.tell(Happened::FlushComes { request: id });
        let mut command = FlushCommand::new(id);
        let mut to_take = Vec::new();
        if let Some(buffer) = self.buffer.as_ref().filter(|buffer| !buffer.plan.is_protected) {
            for (lpn, programs, is_free) in buffer.pages.unsafe_pages() {
                command.left.insert(lpn.0, programs);
                to_take.extend(is_free.then_some(lpn));
            }
        }
        self.flush_commands.push(command);
        to_take.into_iter().for_each(|lpn| self.flush_page(lpn));
        self.end_flush_commands(cx);
    }

    /// The page goes to flash by itself.
    fn flush_page(&mut self, lpn: Lpn) {
        let Some(buffer) = &mut self.buffer else { return };
        let flush = self.waiting.add(lpn, FLUSH, OpKind::Write, false);
        buffer.pages.flush_waits(lpn, flush);
        buffer.joined.add(flush, std::iter::once(lpn));
        self.flushes.push_back(flush);
        self.has_to_place = true;
    }

    /// A program of a page has ended, and the page has the data of a later write, if any.
    pub(super) fn page_is_safe<W: Watch>(&mut self, lpn: Lpn, cx: &mut Context<'_, W>) {
        self.flush_commands.iter_mut().for_each(|command| command.programmed(lpn, false));
        self.take_awaited(lpn);
        self.end_flush_commands(cx);
    }

    /// The host trims a page: its data need not survive. The commands that waited for it end as
    /// soon as it is trimmed.
    pub(super) fn page_is_trimmed(&mut self, lpn: Lpn) {
        self.flush_commands.iter_mut().for_each(|command| command.programmed(lpn, true));
    }

    /// A page that a command waits for goes to flash now, if nothing takes it there yet.
    pub(super) fn take_awaited(&mut self, lpn: Lpn) {
        let is_awaited = self.flush_commands.iter().any(|it| it.left.contains_key(&lpn.0));
        let is_free = || self.buffer.as_ref().is_some_and(|buffer| buffer.pages.is_free(lpn));
        if is_awaited && is_free() {
            self.flush_page(lpn);
        }
    }

    /// The commands that wait for no page are done.
    pub fn end_flush_commands<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        while let Some(at) = self.flush_commands.iter().position(|it| it.left.is_empty()) {
            let FlushCommand { id, .. } = self.flush_commands.remove(at);
            let served = self.request_done(id, cx);
            self.served.push(served);
        }
    }
}
