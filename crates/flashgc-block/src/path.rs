//! The path of data through a drive: the engine's reports, applied to the data.
//!
//! The path keeps no map. It follows the engine's reports in their order:
//!
//! 1. A request comes, and its page operations are accepted, each with its number.
//! 2. A write takes a page: its data is programmed there. If it covers its page only in part, the
//!    rest is that of the page that the engine has read before.
//! 3. A copy of a collection takes a page: the data of the page that it left is programmed there.
//! 4. A block is erased, or retired: its data is gone.
//! 5. A read begins in the page that the map names: the answer is the data of that page.
//!
//! Where the device has a write buffer, its pages are kept here as well, from the access that
//! brings them until the flush that programs them has ended.
//!
//! With a store, each page that is programmed gets a record next to its data: the logical page, and
//! the number of the write. The map is rebuilt from these (`recovery.rs`).

use crate::buffered::{Buffered, Page};
use crate::layout::Bad;
use crate::pages::{Loss, Pages, unreadable};
use crate::record::{Content, Record};
use crate::store::StoreError;
use flashgc::device::Geometry;
use flashgc::ids::{BlockId, Lpn, Ppn};
use flashgc::verify::blame::{self, Held};
use flashgc::verify::{Cause, Happened};
use flashgc::workload::{HostOp, HostRequest};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;

/// The number of a request until its data is taken.
pub type Ticket = u32;

/// A request on its way, with its data.
#[derive(Default)]
struct OnItsWay {
    offset: u64,
    is_read: bool,
    /// Trims that are done are in the store before this is answered.
    keeps_trims: bool,
    data: Vec<u8>,
    served_at_ns: Option<u64>,
    failed: Option<io::Error>,
    /// It writes pages whose data is lost.
    is_lost: bool,
}

/// A page operation of a request.
#[derive(Clone, Copy, Default)]
struct Operation {
    ticket: Ticket,
    lpn: u32,
}

/// A request that is done.
pub struct Done {
    /// The data that was read; for a write, its own data.
    pub data: Vec<u8>,
    /// The time of its end, in ns of the engine.
    pub at_ns: u64,
    /// The error if its data could not be read or kept.
    pub failed: Option<io::Error>,
}

/// The data of a drive, in its pages and on its way.
pub struct DataPath {
    geometry: Geometry,
    pages: Pages,
    /// Pages in the write buffer.
    buffered: Buffered,
    /// Whether they survive a loss of power.
    is_protected: bool,
    /// The number of the last write or trim.
    sequence: u64,
    /// The age clock when time began.
    base_ns: u64,
    now_ns: u64,
    /// Trims that are not in the store yet, by their numbers.
    trims: BTreeMap<u32, u64>,
    requests: Vec<OnItsWay>,
    free: Vec<Ticket>,
    /// Requests that have not come in yet, in their order.
    coming: VecDeque<Ticket>,
    /// By the engine's number of a request.
    tickets: Vec<Ticket>,
    /// By the engine's number of a page operation.
    operations: Vec<Operation>,
    /// The operation that has just begun.
    current: u32,
    /// The one that accesses the write buffer.
    accessing: u32,
    /// The page that is read from the write buffer by the operation that begins next.
    reads_buffer: Option<u32>,
    /// The rest of pages that are written only in part, by operation.
    rests: HashMap<u32, Page>,
    scratch: Vec<u8>,
    /// False during preconditioning, whose pages have no data.
    listens: bool,
    /// Requests that are done and whose data was not taken.
    done: Vec<Ticket>,
}

impl DataPath {
    /// The data of a drive without any.
    pub fn new(geometry: &Geometry, pages: Pages, is_protected: bool) -> Self {
        DataPath {
            geometry: geometry.clone(),
            scratch: vec![0; pages.page_bytes()],
            pages,
            buffered: Buffered::default(),
            is_protected,
            sequence: 0,
            base_ns: 0,
            now_ns: 0,
            trims: BTreeMap::new(),
            requests: Vec::new(),
            free: Vec::new(),
            coming: VecDeque::new(),
            tickets: Vec::new(),
            operations: Vec::new(),
            current: u32::MAX,
            accessing: u32::MAX,
            reads_buffer: None,
            rests: HashMap::new(),
            listens: false,
            done: Vec::new(),
        }
    }

    /// The physical pages.
    pub fn pages(&mut self) -> &mut Pages {
        &mut self.pages
    }

    /// From now on everything is done to the data. The age clock shows `base_ns` at time 0, the
    /// writes before this have numbers up to `sequence`, and the pages in these places of the store
    /// were saved before.
    pub fn begin(&mut self, base_ns: u64, sequence: u64, saved: &[u32]) {
        (self.base_ns, self.sequence, self.listens) = (base_ns, sequence, true);
        self.buffered.reserve(saved);
    }

    /// The page in this place of the store was written again.
    pub fn forget_saved(&mut self, slot: u32) {
        self.buffered.forget(slot, &mut self.pages);
    }

    /// The failure of the store, after which it takes no data.
    pub fn failure(&self) -> Option<&StoreError> {
        self.pages.failure()
    }

    /// Stops the drive: the store has all data, and is marked as stopped.
    pub fn stop(&mut self) -> Result<(), StoreError> {
        self.keep_trims();
        self.buffered.save_all(&mut self.pages);
        self.pages.stop();
        if let Some(store) = self.pages.store() {
            // The mark is valid only if the rest is in the file.
            store.sync();
            store.note_stopped(true);
            store.sync();
        }
        self.failure().cloned().map_or(Ok(()), Err)
    }

    /// A request is about to come. A write has its data, and a read the same number of bytes. A
    /// write whose data is lost has none: its pages cannot be read from then on.
    pub fn expect(&mut self, request: &HostRequest, data: Option<Vec<u8>>) -> Ticket {
        let HostRequest { op, offset_bytes: offset, fua, .. } = *request;
        let is_read = op == HostOp::Read;
        // A page that waits for flash is no longer waited for when it is trimmed.
        let keeps_trims = op == HostOp::Flush || fua;
        let is_lost = data.is_none();
        let data = data.unwrap_or_else(|| vec![0; request.bytes as usize]);
        let request =
            OnItsWay { offset, is_read, is_lost, keeps_trims, data, ..OnItsWay::default() };
        let ticket = match self.free.pop() {
            Some(ticket) => {
                self.requests[ticket as usize] = request;
                ticket
            }
            None => {
                self.requests.push(request);
                (self.requests.len() - 1) as Ticket
            }
        };
        self.coming.push_back(ticket);
        ticket
    }

    /// The requests that are done since the last call.
    pub fn done(&mut self) -> std::vec::Drain<'_, Ticket> {
        self.done.drain(..)
    }

    /// Takes a request, if it is done.
    pub fn take(&mut self, ticket: Ticket) -> Option<Done> {
        let at_ns = self.requests[ticket as usize].served_at_ns?;
        let OnItsWay { data, failed, .. } = std::mem::take(&mut self.requests[ticket as usize]);
        self.free.push(ticket);
        Some(Done { data, at_ns, failed })
    }

    /// Takes an event of the engine.
    #[inline]
    pub fn observe(&mut self, now_ns: u64, happened: Happened) {
        if !self.listens {
            return;
        }
        self.now_ns = now_ns;
        match happened {
            Happened::Arrived { request, .. } => self.comes(request),
            Happened::Accepted { op, request, lpn, .. } => self.accepted(op, request, lpn),
            Happened::Started { op, lpn } => self.started(op, lpn),
            Happened::Read { ppn, lpn } | Happened::ReadBegun { ppn, lpn } => self.read(ppn, lpn),
            Happened::ReadBuffered { lpn } => self.reads_buffer = Some(lpn.0),
            Happened::AccessesBuffer { op } => self.accessing = op,
            Happened::BufferAccessed { lpn, kind: HostOp::Write, .. } => self.buffered(lpn),
            Happened::Flushed { lpn } => self.leaves_buffer(lpn),
            Happened::Trimmed { lpn } => self.trimmed(lpn),
            Happened::Uncorrectable { ppn, op } => self.lost(ppn, op),
            Happened::Padded { ppn, .. } => {
                let record = self.record(Lpn::NONE, Content::Padding);
                self.pages.program_empty(ppn, record);
            }
            Happened::Programmed { ppn, lpn, cause, .. } => self.programmed(ppn, lpn, cause),
            Happened::Begins {
                held: Held::ForCollection { then: blame::Cause::Erase, .. },
                ..
            } => {
                self.settle();
            }
            Happened::Erased { block } => self.erased(block),
            Happened::ProgramFailed(ppn) => {
                let block = self.geometry.block_of(ppn);
                self.pages.is_bad(block, Bad::Failing, &self.geometry);
            }
            Happened::Retired(block, _) => {
                self.settle();
                self.pages.is_bad(block, Bad::Retired, &self.geometry);
            }
            Happened::BecomesReadOnly => self.becomes_read_only(),
            Happened::Served { request, .. } => self.served(request),
            _ => {}
        }
    }

    fn comes(&mut self, request: u32) {
        let ticket = self.coming.pop_front().expect("a request comes after its data");
        let at = request as usize;
        if at >= self.tickets.len() {
            self.tickets.resize(at + 1, 0);
        }
        self.tickets[at] = ticket;
    }

    fn served(&mut self, request: u32) {
        let ticket = self.tickets[request as usize];
        if self.requests[ticket as usize].keeps_trims {
            self.keep_trims();
        }
        if !self.requests[ticket as usize].is_read {
            self.pages.save();
        }
        let failure = self.pages.failure().cloned();
        let request = &mut self.requests[ticket as usize];
        request.served_at_ns = Some(self.now_ns);
        if let Some(failure) = failure
            && !request.is_read
        {
            // Earlier writes that it depends on may not be in the store.
            request.failed.get_or_insert(failure.into());
        }
        self.done.push(ticket);
    }

    /// The record of a page that is programmed now, by the write of the last number.
    fn record(&self, lpn: Lpn, content: Content) -> Record {
        Record::empty(lpn.0, content, self.sequence, self.base_ns + self.now_ns)
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.sequence += 1;
        if self.pages.has_records() {
            self.trims.insert(lpn.0, self.sequence);
            if self.is_protected && self.buffered.get(lpn.0).is_some() {
                // The saved page goes, and an older one in flash must not come back.
                self.keep_trims();
            }
        }
        self.buffered.remove(lpn.0, &mut self.pages);
    }

    /// The drive takes no further write, and does not when it is resumed.
    fn becomes_read_only(&mut self) {
        if let Some(store) = self.pages.store() {
            store.note_read_only();
        }
    }

    /// Flash has a page: the buffer need not keep it.
    fn leaves_buffer(&mut self, lpn: Lpn) {
        if self.is_protected {
            self.pages.save();
        }
        self.buffered.remove(lpn.0, &mut self.pages);
    }

    /// A block is about to be erased: trims, programs and copies are in the store from now on. A
    /// trimmed page may have its last version in this block, and older ones in others.
    fn settle(&mut self) {
        self.keep_trims();
        self.pages.settle();
    }

    /// Trims are in the store from now on.
    fn keep_trims(&mut self) {
        if self.trims.is_empty() {
            return;
        }
        if let Some(store) = self.pages.store() {
            store.trim(&self.trims);
        }
        self.trims.clear();
    }

    fn accepted(&mut self, op: u32, request: u32, lpn: Lpn) {
        let at = op as usize;
        if at >= self.operations.len() {
            self.operations.resize(at + 1, Operation::default());
        }
        self.operations[at] = Operation { ticket: self.tickets[request as usize], lpn: lpn.0 };
    }

    /// A page operation begins. If it reads from the write buffer, that was reported before.
    fn started(&mut self, op: u32, lpn: Lpn) {
        self.current = op;
        if self.reads_buffer.take() != Some(lpn.0) {
            return;
        }
        let (ticket, from, to, at) = self.part(op);
        let held = self.buffered.get(lpn.0).expect("a page that is read there is in the buffer");
        let request = &mut self.requests[ticket as usize];
        match &held.page {
            Some(page) => request.data[at..at + to - from].copy_from_slice(&page[from..to]),
            None => request.failed = Some(held.error(lpn.0, self.pages.store())),
        }
    }

    /// The request of an operation, the part of its page that it touches, and the place of that
    /// part in the request's data.
    fn part(&self, op: u32) -> (Ticket, usize, usize, usize) {
        let Operation { ticket, lpn } = self.operations[op as usize];
        let OnItsWay { offset, data, .. } = &self.requests[ticket as usize];
        let page_bytes = self.scratch.len() as u64;
        let page = u64::from(lpn) * page_bytes;
        let (begin, end) = (page.max(*offset), (page + page_bytes).min(offset + data.len() as u64));
        (ticket, (begin - page) as usize, (end - page) as usize, (begin - offset) as usize)
    }

    /// The operation that has just begun reads this page: for its answer, or for the rest of a page
    /// that it writes in part.
    fn read(&mut self, ppn: Ppn, lpn: Lpn) {
        let op = self.current;
        assert_eq!(self.operations[op as usize].lpn, lpn.0, "a read of another page has begun");
        let (ticket, from, to, at) = self.part(op);
        let request = &mut self.requests[ticket as usize];
        if request.is_read {
            let found = self.pages.read(ppn, from, &mut request.data[at..at + to - from]);
            request.failed = request.failed.take().or(found.err());
            return;
        }
        let mut rest = vec![0; self.scratch.len()].into_boxed_slice();
        let found = self.pages.read(ppn, 0, &mut rest);
        self.rests.insert(op, found.is_ok().then_some(rest));
        request.failed = request.failed.take().or(found.err());
    }

    /// The data of a page cannot be corrected: the operation that has begun to read it gets an
    /// error, as does every later one, until the page is written again.
    fn lost(&mut self, ppn: Ppn, op: u32) {
        self.pages.is_unreadable(ppn, Loss::Errors);
        if let Some(&Operation { ticket, .. }) = self.operations.get(op as usize) {
            let request = &mut self.requests[ticket as usize];
            if !request.is_read {
                self.rests.insert(op, None);
            }
            request.failed.get_or_insert(unreadable());
        }
    }

    /// The request of an operation that writes a whole page, and the place of the page there.
    fn whole(&self, op: u32) -> Option<(Ticket, usize)> {
        let (ticket, from, to, at) = self.part(op);
        let is_whole = to - from == self.scratch.len() && !self.requests[ticket as usize].is_lost;
        is_whole.then_some((ticket, at))
    }

    /// Puts the whole page that a write leaves behind into `scratch`; where it is in the write
    /// buffer it is changed there. Returns whether the rest of the page could be read.
    fn compose(&mut self, op: u32, in_buffer: Option<Lpn>) -> bool {
        let (ticket, from, to, at) = self.part(op);
        let rest = self.rests.remove(&op);
        if self.requests[ticket as usize].is_lost {
            return false;
        }
        if to - from < self.scratch.len() {
            let under = in_buffer.and_then(|lpn| self.buffered.get(lpn.0)).map(|held| &held.page);
            match under.or(rest.as_ref()) {
                Some(Some(page)) => self.scratch.copy_from_slice(page),
                Some(None) => return false,
                None => self.scratch.fill(0),
            }
        }
        let data = &self.requests[ticket as usize].data[at..at + to - from];
        self.scratch[from..to].copy_from_slice(data);
        true
    }

    /// A write has brought its page into the write buffer.
    fn buffered(&mut self, lpn: Lpn) {
        let is_readable = self.compose(self.accessing, Some(lpn));
        let page = is_readable.then(|| self.scratch.as_slice().into());
        self.sequence += 1;
        let into = self.is_protected.then_some(&mut self.pages);
        self.buffered.put(lpn.0, page, self.sequence, into);
    }

    /// A page is programmed. Data that the store cannot take stays in memory, and the answers of
    /// all writes and flushes are errors.
    fn programmed(&mut self, ppn: Ppn, lpn: Lpn, cause: Cause) {
        match cause {
            Cause::Host { op } => {
                self.sequence += 1;
                if let Some((ticket, at)) = self.whole(op) {
                    let record = self.record(lpn, Content::Data);
                    let data = &self.requests[ticket as usize].data[at..at + self.scratch.len()];
                    return self.pages.program(ppn, data, record);
                }
                let is_readable = self.compose(op, None);
                let content = if is_readable { Content::Data } else { Content::Unreadable };
                let record = self.record(lpn, content);
                if is_readable {
                    self.pages.program(ppn, &self.scratch, record);
                } else {
                    self.pages.program_empty(ppn, record);
                }
            }
            Cause::Flush => {
                let held = self.buffered.get(lpn.0).expect("a flush finds its page");
                let record = self.record(lpn, Content::Data);
                let record = Record { sequence: held.sequence, ..record };
                match &held.page {
                    Some(page) => self.pages.program(ppn, page, record),
                    None => {
                        let record = Record { content: Content::Unreadable, ..record };
                        self.pages.program_empty(ppn, record);
                    }
                }
            }
            Cause::Copy { from } | Cause::MoveAhead { from } => {
                self.pages.copy(from, ppn, self.base_ns + self.now_ns);
            }
        }
    }

    fn erased(&mut self, block: BlockId) {
        self.settle();
        self.pages.erase(block, &self.geometry);
    }
}
