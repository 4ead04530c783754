//! The functions in any order, with any handle that was given and any value: a status, and never
//! anything else. `FLASHGC_CALLS=10000000` for more of them (`make c-fuzz`).

use crate::{Given, Random, error};
use flashgc_c::flashgc_status::*;
use flashgc_c::*;
use std::ffi::CString;
use std::ptr::{null, null_mut};

/// The handles until now, many of them closed.
struct Known {
    random: Random,
    components: Vec<flashgc_component>,
    snapshots: Vec<flashgc_snapshot>,
    open: Vec<flashgc_component>,
    taken: Vec<flashgc_snapshot>,
}

/// At most as many drives and copies of them are in memory.
const OPEN: usize = 4;
const TAKEN: usize = 6;

impl Known {
    fn component(&mut self) -> flashgc_component {
        match self.random.below(50) {
            0 => flashgc_component { id: self.random.any() },
            1 => flashgc_component { id: self.random.below(8) },
            2 if !self.components.is_empty() => {
                let at = self.random.below(self.components.len() as u64);
                self.components[at as usize]
            }
            _ => match self.open.len() as u64 {
                0 => flashgc_component { id: 0 },
                count => self.open[self.random.below(count) as usize],
            },
        }
    }

    fn snapshot(&mut self) -> flashgc_snapshot {
        match (self.random.below(20), self.snapshots.len() as u64, self.taken.len() as u64) {
            (0, _, _) | (_, 0, _) => flashgc_snapshot { id: self.random.any() },
            (1, count, _) | (_, count, 0) => self.snapshots[self.random.below(count) as usize],
            (_, _, count) => self.taken[self.random.below(count) as usize],
        }
    }

    /// A number: often near the edges of the legal range.
    fn number(&mut self, usual: u64) -> u64 {
        match self.random.below(16) {
            0 => self.random.any(),
            1 => u64::MAX - self.random.below(4),
            2 => 1 << self.random.below(64),
            3 => self.random.below(4),
            _ => self.random.below(usual.max(1)),
        }
    }

    fn now_ns(&mut self, component: flashgc_component) -> u64 {
        let mut info = flashgc_info::default();
        // SAFETY: it can be written.
        unsafe { flashgc_get_info(component, &raw mut info) };
        info.now_ns
    }

    fn request(&mut self, now_ns: u64) -> flashgc_request {
        flashgc_request {
            at_ns: now_ns.saturating_add(self.number(2_000_000)),
            offset: self.number(20 << 20),
            bytes: self.number(64 << 10),
            tag: self.random.any(),
            op: self.random.below(4) as u32 + if self.random.below(64) == 0 { 77 } else { 0 },
            marks: if self.random.below(16) == 0 { self.random.below(5) as u32 } else { 0 },
            hint: if self.random.below(16) == 0 { self.number(4) as u32 } else { 0 },
            tenant: if self.random.below(16) == 0 { self.number(4) as u32 } else { 0 },
        }
    }

    fn open(&mut self, given: &[Given]) -> flashgc_status {
        if self.open.len() >= OPEN {
            return FLASHGC_OK;
        }
        let at = self.random.below(given.len() as u64) as usize;
        let mut component = flashgc_component { id: 0 };
        // SAFETY: the options live, and the handle can be written.
        let status = unsafe { flashgc_open(&raw const given[at].options, &raw mut component) };
        if status == FLASHGC_OK {
            self.components.push(component);
            self.open.push(component);
        }
        status
    }

    fn close(&mut self) -> flashgc_status {
        let component = self.component();
        let status = flashgc_close(component);
        if status == FLASHGC_OK {
            self.open.retain(|&open| open != component);
        }
        status
    }

    fn take(&mut self) -> flashgc_status {
        if self.taken.len() >= TAKEN {
            let snapshot = self.snapshot();
            let status = flashgc_close_snapshot(snapshot);
            if status == FLASHGC_OK {
                self.taken.retain(|&taken| taken != snapshot);
            }
            return status;
        }
        let component = self.component();
        let mut snapshot = flashgc_snapshot { id: 0 };
        // SAFETY: it can be written.
        let status = unsafe { flashgc_take_snapshot(component, &raw mut snapshot) };
        if status == FLASHGC_OK {
            self.snapshots.push(snapshot);
            self.taken.push(snapshot);
        }
        status
    }

    fn submit(&mut self) -> flashgc_status {
        let component = self.component();
        let now_ns = self.now_ns(component);
        let one = self.request(now_ns);
        if self.random.below(8) > 0 {
            return flashgc_submit(component, one.at_ns, one.op, one.offset, one.bytes, one.tag);
        }
        let mut all = vec![one];
        for _ in 0..self.random.below(16) {
            all.push(self.request(now_ns));
        }
        let (mut accepted, is_null) = (0, self.random.below(32) == 0);
        let first = if is_null { null() } else { all.as_ptr() };
        // SAFETY: there are as many requests, or the pointer is null.
        let status = unsafe { flashgc_submit_all(component, first, all.len(), &raw mut accepted) };
        assert!(accepted <= all.len());
        status
    }

    fn advance(&mut self) -> flashgc_status {
        let component = self.component();
        let to_ns = self.now_ns(component).saturating_add(self.number(3_000_000));
        let (mut done, mut count) = (null(), 0);
        let is_null = self.random.below(64) == 0;
        let into = if is_null { null_mut() } else { &raw mut done };
        // SAFETY: both can be written, or are null.
        let status = unsafe {
            match self.random.below(40) {
                0 => flashgc_drain(component, into, &raw mut count),
                1..=12 => flashgc_advance_to_completion(component, to_ns, into, &raw mut count),
                _ => flashgc_advance(component, to_ns, into, &raw mut count),
            }
        };
        if status == FLASHGC_OK && count > 0 {
            // SAFETY: they live until time advances again.
            let done = unsafe { std::slice::from_raw_parts(done, count) };
            assert!(done.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
        }
        status
    }

    fn report(&mut self) -> flashgc_status {
        let component = self.component();
        let keys = ["result_hash", "requests.write", "", "a.b.c", "latency_ns.all.max", "~1/0"];
        let key = CString::new(keys[self.random.below(6) as usize]).expect("text");
        let (mut text, mut number) = (null(), 0.0);
        // SAFETY: the key is a C string, and the others can be written.
        unsafe {
            match self.random.below(200) {
                0 => flashgc_finish(component, &raw mut text),
                1..=20 => flashgc_statistics(component, &raw mut text),
                21..=110 => flashgc_text(component, key.as_ptr(), &raw mut text),
                _ => flashgc_number(component, key.as_ptr(), &raw mut number),
            }
        }
    }

    fn call(&mut self, given: &[Given]) -> flashgc_status {
        let mut at_ns = 0;
        match self.random.below(2000) {
            0..=3 => self.open(given),
            4..=5 => self.close(),
            6..=15 => self.take(),
            16..=25 => {
                let (component, snapshot) = (self.component(), self.snapshot());
                flashgc_restore(component, snapshot)
            }
            26..=60 => self.report(),
            61..=80 => flashgc_rest(self.component()),
            81..=300 => {
                let component = self.component();
                // SAFETY: it can be written.
                unsafe { flashgc_next_event(component, &raw mut at_ns) }
            }
            301..=1100 => self.advance(),
            _ => self.submit(),
        }
    }
}

#[test]
fn any_call_is_a_status() {
    let calls = std::env::var("FLASHGC_CALLS").ok().and_then(|calls| calls.parse().ok());
    let calls = calls.unwrap_or(60_000_u64);
    let tiny = ["device.blocks_per_plane=16", "device.pages_per_block=16", "device.exported=0.6"];
    let with = |scheme, more: &[&str]| Given::new(scheme, &[&tiny, more].concat());
    let failing: &[&str] = &["device.failures={ program = 1e-3, erase = 0.1 }"];
    let given = [
        with("greedy", &[]).depth(8),
        with("pgc", &["device.write_buffer.size=\"64 KiB\""]),
        with("idle", &[]),
        with("greedy", failing),
    ];
    let mut known = Known {
        random: Random(calls),
        components: Vec::new(),
        snapshots: Vec::new(),
        open: Vec::new(),
        taken: Vec::new(),
    };
    let mut met = std::collections::BTreeMap::<i32, u64>::new();
    for _ in 0..calls {
        let status = known.call(&given);
        assert_ne!(status, FLASHGC_FAILED, "{}", error());
        if (status as i32) < 0 {
            assert!(error().starts_with("error: "), "{status:?}");
        }
        *met.entry(status as i32).or_default() += 1;
    }
    for component in known.components {
        flashgc_close(component);
    }
    for snapshot in known.snapshots {
        flashgc_close_snapshot(snapshot);
    }
    let common = [FLASHGC_OK, FLASHGC_FULL, FLASHGC_NONE, FLASHGC_BAD_HANDLE, FLASHGC_TOO_LATE];
    let are_met = common.iter().all(|&status| met.contains_key(&(status as i32)));
    assert!(are_met, "{calls} calls, by status: {met:?}");
}
