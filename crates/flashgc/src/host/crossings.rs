//! The host's link: one request crosses at a time, and only in its turn.
//!
//! Requests come in in the order of arrival. The data of a write takes time to cross before its
//! pages are queued; a read and a trim bring none, but do not overtake a write that waits for the
//! link. The data of a read goes out after its last page. Over a half-duplex link it goes before
//! any request that waits to come in; a full-duplex link has a lane for each direction.

use super::entrance::Entrance;
use super::link::{Crossing, Direction};
use super::{Host, Served};
use crate::context::Context;
use crate::verify::{Happened, Watch};
use crate::workload::{HostOp, HostRequest};

impl Host {
    /// A request is here: it comes in if the device has a place for it, and no limit holds it.
    #[inline(always)]
    pub fn is_here<W: Watch>(&mut self, id: u32, request: HostRequest, cx: &mut Context<'_, W>) {
        if self.is_limited(id, request, cx) {
            return;
        }
        let slab = &self.requests.slab;
        let entrance = self.entrance.as_mut();
        if entrance.is_none_or(|entrance| entrance.comes(id, request, slab[id as usize].job)) {
            self.come_in(id, request, cx);
        }
    }

    /// The request that has waited longest comes in, if the device has a place for it by now.
    /// Returns whether there may be a page to place.
    #[inline]
    pub(super) fn next_comes_in<W: Watch>(&mut self, cx: &mut Context<'_, W>) -> bool {
        let next = self.entrance.as_mut().and_then(Entrance::next);
        let Some((id, request)) = next else { return false };
        self.come_in(id, request, cx);
        true
    }

    /// A request has a place: where the firmware takes time its command is handled first.
    #[inline(always)]
    pub(super) fn come_in<W: Watch>(
        &mut self,
        id: u32,
        request: HostRequest,
        cx: &mut Context<'_, W>,
    ) {
        cx.notify(Happened::ComesIn { request: id });
        let Some(firmware) = &mut self.firmware else { return self.go_on(id, request, cx) };
        firmware.awaits(id, request);
        firmware.serve(cx);
    }

    /// A request continues to its pages, over the link where there is one.
    #[inline(always)]
    pub(super) fn go_on<W: Watch>(
        &mut self,
        id: u32,
        request: HostRequest,
        cx: &mut Context<'_, W>,
    ) {
        let Some(link) = &mut self.link else { return self.cut(id, request) };
        link.incoming.push_back((id, request));
        self.serve_link(cx);
    }

    /// The last page of a request is done: where there is a link a read goes out over it. Returns
    /// the request if it is done.
    #[inline(always)]
    pub(super) fn pages_done<W: Watch>(
        &mut self,
        id: u32,
        cx: &mut Context<'_, W>,
    ) -> Option<Served> {
        if self.link.is_some() {
            let (op, bytes) = self.op_and_bytes(id);
            if let (HostOp::Read, Some(link)) = (op, &mut self.link) {
                link.outgoing.push_back((id, bytes));
                self.serve_link(cx);
                return None;
            }
        }
        if !self.forced.is_empty() && self.awaits_flash(id, cx) {
            return None;
        }
        Some(self.request_done(id, cx))
    }

    /// Starts the transfers that may start, or accepts a request that needs no time to come in.
    fn serve_link<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        let Some(link) = &mut self.link else { return };
        link.next_goes_out(cx);
        if let Some((id, request)) = link.next_comes_in(cx) {
            self.cut(id, request);
        }
    }

    /// All pages of a request have been accepted: the link serves the next.
    #[inline(always)]
    pub(super) fn has_come_in<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        if let Some(link) = &mut self.link {
            link.is_cutting = false;
            self.serve_link(cx);
        }
    }

    /// The data under way in this direction has crossed.
    pub(super) fn crossing_ended<W: Watch>(
        &mut self,
        direction: Direction,
        cx: &mut Context<'_, W>,
    ) {
        let Some(link) = &mut self.link else { return };
        match link.ends(direction, cx) {
            Crossing::In(id, request) => {
                link.is_cutting = true;
                self.cut(id, request);
            }
            Crossing::Out(id) => {
                let served = self.request_done(id, cx);
                self.served.push(served);
                self.serve_link(cx);
            }
        }
    }
}
