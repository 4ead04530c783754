//! What copies that run unseen have done by a time (see `collect/unseen.rs`).

/// Copies that run unseen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unseen {
    since_ns: u64,
    read_ns: u64,
    program_ns: u64,
    /// Whether requests waited that may not preempt.
    is_wanted: bool,
}

/// How far unseen copies are.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Steps that ended.
    pub steps: u64,
    /// Whether the present step is being programmed.
    pub programs: bool,
    /// When its operation under way began, in ns.
    pub since_ns: u64,
    /// How long all operations before it took, in ns.
    pub before_ns: u64,
    /// Time that the operation has left, in ns.
    pub left_ns: u64,
    /// Whether requests wait that may not preempt.
    pub is_wanted: bool,
}

impl Progress {
    /// Copies whose page was taken.
    pub(super) fn bound(self) -> u64 {
        self.steps + u64::from(self.programs)
    }

    /// Whether an operation has ended.
    pub fn has_ended(self) -> bool {
        self.bound() > 0
    }
}

impl Unseen {
    /// Copies whose operations take these times, from now on.
    pub(super) fn new(since_ns: u64, read_ns: u64, program_ns: u64, is_wanted: bool) -> Self {
        Unseen { since_ns, read_ns, program_ns, is_wanted }
    }

    /// When the first copy takes its page, in ns.
    pub(super) fn first_ns(self) -> u64 {
        self.since_ns + self.read_ns
    }

    /// The time of one copy, in ns.
    pub(super) fn step_ns(self) -> u64 {
        self.read_ns + self.program_ns
    }

    /// What has ended by now. `is_behind` tells whether events of this instant come later than
    /// those of the unit.
    pub(super) fn by(self, now_ns: u64, is_behind: bool) -> Progress {
        let Unseen { since_ns, read_ns, program_ns, is_wanted } = self;
        // What ends before this time since the beginning has ended.
        let end_ns = now_ns - since_ns + u64::from(is_behind);
        let steps = end_ns.saturating_sub(1) / (read_ns + program_ns);
        let begin_ns = steps * (read_ns + program_ns);
        let programs = begin_ns + read_ns < end_ns;
        let before_ns = begin_ns + if programs { read_ns } else { 0 };
        let length_ns = if programs { program_ns } else { read_ns };
        let since_ns = since_ns + before_ns;
        let left_ns = since_ns + length_ns - now_ns;
        Progress { steps, programs, since_ns, before_ns, left_ns, is_wanted }
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, Unseen};

    #[test]
    fn what_ends_now_has_ended_where_its_event_comes_first() {
        let unseen = Unseen::new(1000, 25, 200, true);
        let found = |now_ns, is_behind| {
            let by = unseen.by(now_ns, is_behind);
            let Progress { steps, programs, since_ns, before_ns, left_ns, .. } = by;
            (steps, programs, since_ns - 1000, before_ns, left_ns, by.bound())
        };
        assert_eq!(found(1000, false), (0, false, 0, 0, 25, 0));
        assert_eq!(found(1000, true), (0, false, 0, 0, 25, 0));
        assert_eq!(found(1025, false), (0, false, 0, 0, 0, 0));
        assert_eq!(found(1025, true), (0, true, 25, 25, 200, 1));
        assert_eq!(found(1026, false), (0, true, 25, 25, 199, 1));
        assert_eq!(found(1225, false), (0, true, 25, 25, 0, 1));
        assert_eq!(found(1225, true), (1, false, 225, 225, 25, 1));
        assert_eq!(found(1500, false), (2, true, 475, 475, 175, 3));
    }
}
