//! What copies that run unseen have done by a time (see `collect/unseen.rs`).

use crate::flash::Phases;

/// More than the phases of a copy.
const PHASES: usize = 8;

/// The times of the phases of one copy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timetable {
    /// When each phase begins, and when the last one ends, in ns.
    begins_ns: [u64; PHASES],
    /// Time in the array until then, in ns.
    array_ns: [u64; PHASES],
    /// Whether each phase is on the bus: 1, or 0.
    on_bus: [u8; PHASES],
    count: usize,
    program_at: usize,
    /// Whether the program of a copy is a command of its own, between which requests may preempt.
    is_split: bool,
}

/// Copies that run unseen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unseen {
    since_ns: u64,
    /// The places of the unit's events and of its bus's among those of an instant.
    places: [usize; 2],
    /// Whether requests waited that may not preempt.
    is_needed: bool,
}

/// How far unseen copies are.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Copies that ended.
    pub steps: u64,
    /// The phase of the present copy that is under way.
    pub at: u8,
    /// Whether the present copy is being programmed.
    pub programs: bool,
    /// When its command under way began, in ns.
    pub since_ns: u64,
    /// When the phase under way began, in ns.
    pub phase_since_ns: u64,
    /// Time that the phase has left, in ns.
    pub left_ns: u64,
    /// How long all phases before it took in the array, and on the bus, in ns.
    pub before: Work,
    /// Whether requests wait that may not preempt.
    pub is_needed: bool,
}

/// Time in the array and on the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// In the array, in ns.
    pub array_ns: u64,
    /// On the bus, in ns.
    pub bus_ns: u64,
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

impl Timetable {
    /// The times of a copy of these phases. `None` where it does not end with its program, or where
    /// nothing is before that.
    #[cold]
    pub(super) fn new(copy: &Phases, is_split: bool) -> Option<Self> {
        let (count, program_at) = (usize::from(copy.count()), usize::from(copy.program_at()));
        if program_at == 0 || program_at + 1 != count || count >= PHASES {
            return None;
        }
        let mut times = Timetable { count, program_at, is_split, ..Timetable::default() };
        for (at, phase) in copy.from(0).enumerate() {
            let on_bus = phase.kind.is_on_bus();
            times.on_bus[at] = u8::from(on_bus);
            times.begins_ns[at + 1] = times.begins_ns[at] + phase.ns;
            times.array_ns[at + 1] = times.array_ns[at] + if on_bus { 0 } else { phase.ns };
        }
        Some(times)
    }

    /// Whether the program of a copy is a command of its own.
    pub(super) fn is_split(&self) -> bool {
        self.is_split
    }

    /// Whether there is none yet.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The time of one copy, in ns.
    pub(super) fn step_ns(&self) -> u64 {
        self.begins_ns[self.count]
    }

    /// The work of this number of copies, and of the phases of one more before this one.
    pub(super) fn work_of(&self, steps: u64, at: usize) -> Work {
        let Timetable { begins_ns, array_ns, count, .. } = self;
        let array_ns = steps * array_ns[*count] + array_ns[at];
        Work { array_ns, bus_ns: steps * begins_ns[*count] + begins_ns[at] - array_ns }
    }
}

impl Unseen {
    /// Copies from now on.
    pub(super) fn new(since_ns: u64, places: [usize; 2], is_needed: bool) -> Self {
        Unseen { since_ns, places, is_needed }
    }

    /// When the first copy takes its page, in ns.
    pub(super) fn first_ns(&self, times: &Timetable) -> u64 {
        self.since_ns + times.begins_ns[times.program_at]
    }

    /// What has ended by now, where the event at this place of the instant is under way: those
    /// before it have ended.
    pub(super) fn by(&self, times: &Timetable, now_ns: u64, place: usize) -> Progress {
        let Timetable { begins_ns, on_bus, program_at, is_split, .. } = times;
        let (passed_ns, step_ns) = (now_ns - self.since_ns, times.step_ns());
        let ends_before = |on_bus: u8| self.places[usize::from(on_bus)] < place;
        let (mut steps, mut rest_ns) = (passed_ns / step_ns, passed_ns % step_ns);
        if rest_ns == 0 && steps > 0 && !ends_before(0) {
            (steps, rest_ns) = (steps - 1, step_ns);
        }
        let mut at = 0;
        while at < *program_at
            && (begins_ns[at + 1] < rest_ns
                || begins_ns[at + 1] == rest_ns && ends_before(on_bus[at]))
        {
            at += 1;
        }
        let programs = at == *program_at;
        let begin_ns = now_ns - rest_ns;
        let phase_since_ns = begin_ns + begins_ns[at];
        Progress {
            steps,
            at: at as u8,
            programs,
            since_ns: if *is_split && programs { phase_since_ns } else { begin_ns },
            phase_since_ns,
            left_ns: begins_ns[at + 1] - rest_ns,
            before: times.work_of(steps, at),
            is_needed: self.is_needed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, Timetable, Unseen, Work};
    use crate::flash::{Kind, Phases};

    fn found(
        (unseen, times): (Unseen, Timetable),
        now_ns: u64,
        place: usize,
    ) -> (u64, u8, [u64; 2], Work, u64, u64) {
        let by = unseen.by(&times, now_ns, place);
        let Progress { steps, at, since_ns, phase_since_ns, before, left_ns, .. } = by;
        (steps, at, [since_ns - 1000, phase_since_ns - 1000], before, left_ns, by.bound())
    }

    #[test]
    fn what_ends_now_has_ended_where_its_event_comes_first() {
        let copy = Phases::new().then(Kind::Read, 25).then(Kind::Program, 200);
        let times = Timetable::new(&copy, true).expect("it ends with its program");
        let unseen = Unseen::new(1000, [3, 8], true);
        let work = |array_ns| Work { array_ns, bus_ns: 0 };
        for (now_ns, place, due) in [
            (1000, 3, (0, 0, [0, 0], work(0), 25, 0)),
            (1000, 4, (0, 0, [0, 0], work(0), 25, 0)),
            (1025, 3, (0, 0, [0, 0], work(0), 0, 0)),
            (1025, 4, (0, 1, [25, 25], work(25), 200, 1)),
            (1026, 3, (0, 1, [25, 25], work(25), 199, 1)),
            (1225, 3, (0, 1, [25, 25], work(25), 0, 1)),
            (1225, 4, (1, 0, [225, 225], work(225), 25, 1)),
            (1500, 3, (2, 1, [475, 475], work(475), 175, 3)),
        ] {
            assert_eq!(found((unseen, times), now_ns, place), due, "{now_ns} {place}");
        }
    }

    #[test]
    fn transfers_end_with_the_events_of_the_bus() {
        let copy = Phases::new()
            .then(Kind::Command, 2)
            .then(Kind::Read, 20)
            .then(Kind::DataOut, 100)
            .then(Kind::DataIn, 102)
            .then(Kind::Program, 200);
        let times = Timetable::new(&copy, false).expect("it ends with its program");
        let unseen = Unseen::new(1000, [3, 8], false);
        let work = |array_ns, bus_ns| Work { array_ns, bus_ns };
        for (now_ns, place, due) in [
            (1002, 8, (0, 0, [0, 0], work(0, 0), 0, 0)),
            (1002, 9, (0, 1, [0, 2], work(0, 2), 20, 0)),
            (1022, 4, (0, 2, [0, 22], work(20, 2), 100, 0)),
            (1224, 8, (0, 3, [0, 122], work(20, 102), 0, 0)),
            (1224, 9, (0, 4, [0, 224], work(20, 204), 200, 1)),
            (1424, 3, (0, 4, [0, 224], work(20, 204), 0, 1)),
            (1424, 4, (1, 0, [424, 424], work(220, 204), 2, 1)),
            (1430, 0, (1, 1, [424, 426], work(220, 206), 16, 1)),
        ] {
            assert_eq!(found((unseen, times), now_ns, place), due, "{now_ns} {place}");
        }
        assert_eq!((unseen.first_ns(&times), times.step_ns()), (1224, 424));
    }
}
