//! The firmware: each command takes time on a core before the drive works on it.
//!
//! A request that has a place of the device waits for a core, in the order of coming in. When its
//! command is handled, it continues: over the host's link, where there is one, or to its pages.
//! Where the time of a command varies, one that began later on another core may end earlier.

use super::Host;
use crate::context::Context;
use crate::plan::{Additions, Firmware as Rules, Stage};
use crate::verify::{Happened, Watch};
use crate::workload::HostRequest;
use std::collections::VecDeque;

/// A command on a core.
#[derive(Clone)]
struct Command {
    from_ns: u64,
    until_ns: u64,
    id: u32,
    request: HostRequest,
}

/// The cores, and the requests that have or await one.
#[derive(Clone)]
pub(super) struct Firmware {
    rules: Rules,
    waiting: VecDeque<(u32, HostRequest)>,
    /// In the order of their ends; of those that end together, the one that began first.
    handled: VecDeque<Command>,
    /// Additions to the time of each command.
    jitter: Additions,
    spent_ns: u64,
}

impl Firmware {
    pub(super) fn new(rules: Rules, seed: u64) -> Self {
        Firmware {
            rules,
            waiting: VecDeque::new(),
            handled: VecDeque::new(),
            jitter: rules.additions(seed),
            spent_ns: 0,
        }
    }

    /// Time in which cores handled commands up to now, in ns, and their number.
    pub(super) fn spent(&self, now_ns: u64) -> (u64, u32) {
        let under_way: u64 = self.handled.iter().map(|command| now_ns - command.from_ns).sum();
        (self.spent_ns + under_way, self.rules.cores)
    }

    /// A request waits for a core.
    pub(super) fn awaits(&mut self, id: u32, request: HostRequest) {
        self.waiting.push_back((id, request));
    }

    /// Cores that are free take commands.
    pub(super) fn serve<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        while self.handled.len() < self.rules.cores as usize
            && let Some((id, request)) = self.waiting.pop_front()
        {
            let until_ns = cx.now_ns + self.rules.command_ns + self.jitter.draw_ns();
            let mut at = self.handled.len();
            self.handled.push_back(Command { from_ns: cx.now_ns, until_ns, id, request });
            while at > 0 && self.handled[at - 1].until_ns > until_ns {
                self.handled.swap(at - 1, at);
                at -= 1;
            }
            if at == 0 {
                if self.handled.len() > 1 {
                    cx.events.clear(Stage::Firmware.slot());
                }
                self.post(cx);
            }
            cx.notify(Happened::Handles { request: id });
        }
    }

    /// The event of the command that ends next.
    fn post<W: Watch>(&self, cx: &mut Context<'_, W>) {
        if let Some(command) = self.handled.front() {
            cx.events.post(Stage::Firmware.slot(), command.until_ns);
        }
    }

    /// The command that ends first is handled. Returns its request.
    fn ends<W: Watch>(&mut self, cx: &mut Context<'_, W>) -> Option<(u32, HostRequest)> {
        let Command { from_ns, id, request, .. } = self.handled.pop_front()?;
        self.spent_ns += cx.now_ns - from_ns;
        cx.notify(Happened::Handled { request: id, from_ns, to_ns: cx.now_ns });
        self.post(cx);
        self.serve(cx);
        Some((id, request))
    }
}

impl Host {
    /// A command is handled: its request continues.
    pub(super) fn command_handled<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        let ended = self.firmware.as_mut().and_then(|firmware| firmware.ends(cx));
        if let Some((id, request)) = ended {
            self.go_on(id, request, cx);
        }
    }
}
