//! Watching a run from outside: events are reported here and nothing comes back.
//!
//! The simulation is generic over its watcher. With [`Overview`] all reports but those about
//! requests, blocks and collections compile to nothing.

pub mod attended;
mod audit;
mod bad_blocks;
pub mod blame;
mod blocking;
mod buffer;
mod cause;
pub mod checker;
mod closed;
mod crossings;
mod flush_commands;
mod limits;
mod overview;
mod per_request;
mod places;
mod promises;
mod reclaims;
mod request_log;
mod requests;
mod rereads;
mod slab;
mod spans;
mod steps;
pub mod story;
mod time_slices;
pub mod timeline;
mod times;
mod tokens;
mod unit_work;
mod watch;
mod watchers;
mod what;

pub use cause::Cause;
pub use overview::Overview;
pub use per_request::PerRequest;
pub use request_log::{BATCH_ROWS, RequestSink};
pub use requests::RequestRow;
pub use watch::Watch;
pub use watchers::{InDetail, JobLog, Listener, Watchers};
pub use what::What;

use blame::{BusWait, Held};
use flashgc_model::gc::JobRow;
use flashgc_model::ids::{BlockId, Lpn, PlaneId, Ppn, UnitId};
use flashgc_workload::HostOp;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Happened {
    /// The measured part begins.
    MeasuringStarts,
    /// The ramp of a job has ended: its latencies count from here on, and so do the latencies of
    /// the whole run.
    RampEnds {
        /// The job.
        job: u16,
    },
    /// The measured part begins with this number of erased blocks in a plane; planes come in order.
    FreeBlocks {
        /// The plane.
        plane: PlaneId,
        /// Its erased blocks that are not open.
        blocks: u32,
    },
    /// A request of the host came.
    Arrived {
        /// Its place in the slab.
        request: u32,
        /// The clone of a job that issued it; 0 without jobs.
        job: u16,
        /// The first byte.
        offset_bytes: u64,
        /// Its number of bytes.
        size_bytes: u64,
        /// The placement hint that came with it; 0 is none.
        hint: u8,
        /// Whether its data must survive a loss of power when it is done.
        fua: bool,
        /// Requests under way, this one included.
        outstanding: u64,
    },
    /// A request of the host is done.
    Served {
        /// Its place in the slab.
        request: u32,
        /// The clone of a job that issued it; 0 without jobs.
        job: u16,
        /// The kind of request.
        op: HostOp,
        /// Its latency, in ns.
        latency_ns: u64,
        /// Requests under way that are left.
        outstanding: u64,
    },
    /// A page operation of the host was accepted.
    Accepted {
        /// Its place in the slab.
        op: u32,
        /// The request that it is a part of.
        request: u32,
        /// Its page.
        lpn: Lpn,
        /// The kind of operation.
        kind: HostOp,
        /// Whether its request is of high priority.
        high: bool,
    },
    /// A page operation of the host waits in the queue of a unit.
    Queued {
        /// Its place in the slab.
        op: u32,
        /// The unit.
        unit: UnitId,
    },
    /// An operation of the host that has just begun is longer, since its pages are read again.
    Retries {
        /// Its place in the slab.
        op: u32,
        /// By how much if nothing makes it wait, in ns.
        added_ns: u64,
    },
    /// A flash page is read whose errors cannot be corrected: the read ends without its data.
    Uncorrectable {
        /// The page.
        ppn: Ppn,
        /// The page operation of the host that reads it, in the slab; `u32::MAX` for a collection.
        op: u32,
    },
    /// A write of the host waits for any unit of its pool.
    AwaitsIdle {
        /// Its place in the slab.
        op: u32,
    },
    /// A page operation of the host has left its queue: it begins, or waits elsewhere from now on.
    Taken {
        /// Its place in the slab.
        op: u32,
    },
    /// A write that has just left its queue was merged into a page that a collection programs.
    Merged {
        /// Its place in the slab.
        op: u32,
    },
    /// A write that has just left its queue is loaded during a program of a collection.
    Loaded {
        /// Its place in the slab.
        op: u32,
    },
    /// The next operation of the host begins in parallel with the operation of its unit.
    BeginsBeside {
        /// The unit.
        unit: UnitId,
        /// It reads, and else programs.
        reads: bool,
    },
    /// A page operation that has just left its queue has begun in parallel with another one of the
    /// host.
    Beside {
        /// Its place in the slab.
        op: u32,
    },
    /// The other operation has ended, and this one occupies the unit.
    TakesOver {
        /// Its place in the slab.
        op: u32,
        /// The unit.
        unit: UnitId,
    },
    /// A program of the host that a page operation shares is suspended for a read.
    Yields {
        /// Its place in the slab.
        op: u32,
        /// The unit.
        unit: UnitId,
    },
    /// The suspended program continues.
    GoesOn {
        /// Its place in the slab.
        op: u32,
        /// The unit.
        unit: UnitId,
        /// How long it takes to resume it, in ns.
        resume_ns: u64,
    },
    /// A read of the host that has just left its queue begins in one plane of its unit.
    ReadsInPlane {
        /// Its place in the slab.
        op: u32,
        /// The reader, by whose number the operation, the array and the bus are reported.
        reader: UnitId,
    },
    /// A write that is next in its queue finds no page that it may take.
    FindsNoPage {
        /// Its place in the slab.
        op: u32,
        /// The unit.
        unit: UnitId,
    },
    /// Writes wait for pages of blocks that planes share, and there are none: the collection of
    /// this unit continues although they have not paid for it.
    NeedNotPay {
        /// The unit.
        unit: UnitId,
    },
    /// A write in the queue of a unit finds no page anywhere.
    Starves {
        /// The unit.
        unit: UnitId,
    },
    /// An operation of a unit begins.
    Begins {
        /// The unit.
        unit: UnitId,
        /// For what.
        held: Held,
    },
    /// A page of the host has left the register in parallel with the operation of its unit.
    LeftBeside {
        /// The unit.
        unit: UnitId,
        /// For how long it waited for the bus.
        waited: BusWait,
    },
    /// The data of an operation of the host is in the register, and its program begins.
    Loading {
        /// The unit.
        unit: UnitId,
        /// For how long it waited for the bus.
        waited: BusWait,
    },
    /// An operation of a unit has ended, or was suspended.
    Worked {
        /// The unit.
        unit: UnitId,
        /// For how long it waited for the bus.
        waited: BusWait,
    },
    /// A page operation of the host waits for a place in the write buffer, or for its access.
    AwaitsBuffer {
        /// Its place in the slab.
        op: u32,
    },
    /// A page operation of the host accesses the write buffer.
    AccessesBuffer {
        /// Its place in the slab.
        op: u32,
    },
    /// A block is collected since it was read often.
    Reclaimed {
        /// The block.
        block: BlockId,
    },
    /// An operation of a background task begins.
    WorksAhead {
        /// Its plane.
        plane: PlaneId,
    },
    /// A page operation of the host has begun: its place in the order of its page is taken.
    Started {
        /// Its place in the slab.
        op: u32,
        /// Its page.
        lpn: Lpn,
    },
    /// A page operation of the host is done and may be acknowledged.
    Done {
        /// Its place in the slab.
        op: u32,
        /// Its page.
        lpn: Lpn,
        /// The kind of operation.
        kind: HostOp,
    },
    /// A page was taken and bound.
    Programmed {
        /// The page.
        ppn: Ppn,
        /// Its data.
        lpn: Lpn,
        /// The cause.
        cause: Cause,
        /// Whether the data was still current when it was bound.
        current: bool,
    },
    /// A slot was taken that holds no data, and completes a program with others.
    Padded {
        /// The slot.
        ppn: Ppn,
        /// The program is one of a collection, and not of the host.
        collects: bool,
    },
    /// Copies were bound that fill no flash page: the controller keeps them.
    Kept {
        /// The unit of the collection.
        unit: UnitId,
        /// Their number.
        copies: u32,
    },
    /// A slot is read whose flash page is not programmed yet: the controller has the data.
    ReadBegun {
        /// The slot.
        ppn: Ppn,
        /// The data that is expected there.
        lpn: Lpn,
    },
    /// A page is read.
    Read {
        /// The page.
        ppn: Ppn,
        /// The data that is expected there.
        lpn: Lpn,
    },
    /// A collection reads a page, to program it elsewhere.
    ReadOut {
        /// The page.
        ppn: Ppn,
        /// Its data.
        lpn: Lpn,
    },
    /// The page that the host read or wrote just now is in the register of a collection, and needs
    /// no array time of its own.
    InRegister {
        /// The page.
        ppn: Ppn,
    },
    /// A collection's suspended read is not resumed, since its pages went invalid meanwhile.
    ReadGivenUp {
        /// The unit.
        unit: UnitId,
    },
    /// A read is served from the write buffer.
    ReadBuffered {
        /// The page that was requested.
        lpn: Lpn,
    },
    /// An access to the write buffer has ended; after one by a write it has new data of the page.
    BufferAccessed {
        /// The page.
        lpn: Lpn,
        /// A write comes in, a read goes out.
        kind: HostOp,
        /// From when, in ns.
        from_ns: u64,
        /// Until when, in ns.
        to_ns: u64,
    },
    /// A page has left the write buffer, since flash has its data.
    Flushed {
        /// The page.
        lpn: Lpn,
    },
    /// A read found no data: nothing was ever written there.
    ReadNothing {
        /// The page that was requested.
        lpn: Lpn,
    },
    /// A logical page was trimmed.
    Trimmed {
        /// The page.
        lpn: Lpn,
    },
    /// A collection took a block.
    Claimed {
        /// The block.
        block: BlockId,
        /// Its valid pages.
        valid: u32,
    },
    /// An erased block was opened.
    Opened {
        /// The block.
        block: BlockId,
    },
    /// A block was erased.
    Erased {
        /// The block.
        block: BlockId,
    },
    /// The program of which this is the first page has failed: its data goes to the page that is
    /// taken next.
    ProgramFailed(Ppn),
    /// A block was retired in place of being erased; `true` if an erase was tried and has failed.
    Retired(BlockId, bool),
    /// The drive takes no further write.
    BecomesReadOnly,
    /// A unit or a bus was kept busy by one operation.
    Busy {
        /// The kind of work.
        what: What,
        /// The unit.
        unit: UnitId,
        /// From when, in ns.
        from_ns: u64,
        /// Until when, in ns.
        to_ns: u64,
        /// For collection, not for the host.
        gc: bool,
    },
    /// A flush command has come in.
    FlushComes {
        /// Its place in the slab.
        request: u32,
    },
    /// All pages of a FUA write are in the write buffer: it waits until flash has them.
    AwaitsFlash {
        /// Its place in the slab.
        request: u32,
    },
    /// A page was flushed, and stays in the write buffer: it was rewritten meanwhile.
    FlushedAndKept {
        /// Its logical page.
        lpn: Lpn,
    },
    /// The limit of a job admits a request.
    Admitted {
        /// Its place in the slab.
        request: u32,
    },
    /// A request comes in: it has a place of the device, where these are bounded.
    ComesIn {
        /// Its place in the slab.
        request: u32,
    },
    /// The firmware begins with the command of a request.
    Handles {
        /// Its place in the slab.
        request: u32,
    },
    /// The firmware has handled the command of a request.
    Handled {
        /// Its place in the slab.
        request: u32,
        /// From when, in ns.
        from_ns: u64,
        /// Until when, in ns.
        to_ns: u64,
    },
    /// A request's data begins to cross the host's link.
    Crosses {
        /// Its place in the slab.
        request: u32,
    },
    /// A request's data crossed the host's link.
    Crossed {
        /// Its place in the slab.
        request: u32,
        /// A write goes in, a read comes out.
        op: HostOp,
        /// From when, in ns.
        from_ns: u64,
        /// Until when, in ns.
        to_ns: u64,
    },
    /// A collection ended.
    JobClosed(JobRow),
    /// The last collection of a batch has ended, where the batch closed the block that the host
    /// fills.
    BatchEnded {
        /// The plane.
        plane: PlaneId,
    },
}
