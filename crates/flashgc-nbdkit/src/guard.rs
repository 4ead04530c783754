//! Keeps a client that goes away from ending the server.
//!
//! nbdkit 1.32.4 to 1.33.9 (Debian 12 has 1.32.5) closes its side of a connection as soon as one of
//! its threads sees that the client is gone, while others have answers for it, and an assertion in
//! these ends the process ("`raw_send_socket`: Assertion `sock >= 0` failed"; nbdkit 1.34 has no
//! such fault). `flashgc serve` loads the plugin before such a server, so that these functions
//! replace those of the C library:
//!
//! - an answer to a client that is gone is dropped, as if it had been sent;
//! - a thread that reads the end of a connection returns from that read when every request of the
//!   connection that was under way has been answered, so that no thread sends afterwards.
//!
//! Without being loaded before nbdkit they are never called.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A connection of nbdkit, numbered by its descriptor.
struct Connection {
    is_open: AtomicBool,
    /// Requests that were read and not answered.
    under_way: AtomicU32,
    /// Its end was read: no answer follows.
    has_ended: AtomicBool,
}

/// Descriptors above are not guarded.
const DESCRIPTORS: usize = 4096;

static CONNECTIONS: [Connection; DESCRIPTORS] = [const { Connection::new() }; DESCRIPTORS];

impl Connection {
    const fn new() -> Self {
        let [is_open, has_ended] = [const { AtomicBool::new(false) }; 2];
        Connection { is_open, under_way: AtomicU32::new(0), has_ended }
    }
}

thread_local! {
    /// The connection whose request this thread answers.
    static ANSWERS: Cell<c_int> = const { Cell::new(-1) };
}

/// A request of the protocol: its length, its first word, and the type of a disconnect.
const REQUEST_BYTES: usize = 28;
const REQUEST: [u8; 4] = 0x2560_9513_u32.to_be_bytes();
const LEAVES: [u8; 2] = 2_u16.to_be_bytes();

/// The interval between checks for requests under way.
const PAUSE: Duration = Duration::from_micros(500);
/// The longest wait of a thread for a client that breaks the protocol.
const PATIENCE: Duration = Duration::from_millis(200);

fn connection(descriptor: c_int) -> Option<&'static Connection> {
    let found = usize::try_from(descriptor).ok().and_then(|at| CONNECTIONS.get(at));
    found.filter(|connection| connection.is_open.load(Ordering::Acquire))
}

/// This thread has no request to answer from now on.
fn has_answered() {
    let descriptor = ANSWERS.replace(-1);
    if let Some(connection) = connection(descriptor) {
        connection.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}

fn error() -> c_int {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Waits until no other thread has an answer for this client, if this is its end. This thread has
/// none from then on.
fn wait_for_others(connection: &Connection, until: Option<Instant>) {
    has_answered();
    while connection.under_way.load(Ordering::Acquire) > 0
        && !connection.has_ended.load(Ordering::Acquire)
        && until.is_none_or(|until| Instant::now() < until)
    {
        std::thread::sleep(PAUSE);
    }
    connection.has_ended.store(true, Ordering::Release);
}

#[unsafe(no_mangle)]
extern "C" fn accept4(
    listener: c_int,
    address: *mut c_void,
    length: *mut c_void,
    flags: c_int,
) -> c_int {
    // SAFETY: the arguments come from the caller.
    let descriptor =
        unsafe { libc::syscall(libc::SYS_accept4, listener, address, length, flags) } as c_int;
    let taken = usize::try_from(descriptor).ok().and_then(|at| CONNECTIONS.get(at));
    if let Some(connection) = taken {
        connection.under_way.store(0, Ordering::Release);
        connection.has_ended.store(false, Ordering::Release);
        connection.is_open.store(true, Ordering::Release);
    }
    descriptor
}

#[unsafe(no_mangle)]
extern "C" fn close(descriptor: c_int) -> c_int {
    if let Some(connection) = connection(descriptor) {
        connection.is_open.store(false, Ordering::Release);
    }
    // SAFETY: the argument comes from the caller.
    unsafe { libc::syscall(libc::SYS_close, descriptor) as c_int }
}

#[unsafe(no_mangle)]
extern "C" fn read(descriptor: c_int, into: *mut c_void, bytes: usize) -> isize {
    // SAFETY: the arguments come from the caller.
    let got = unsafe { libc::syscall(libc::SYS_read, descriptor, into, bytes) } as isize;
    let Some(connection) = connection(descriptor) else { return got };
    if got <= 0 {
        let why = error();
        if got == 0 || (why != libc::EINTR && why != libc::EAGAIN) {
            wait_for_others(connection, None);
            // SAFETY: the place of the error of this thread; the wait may have changed it.
            unsafe { *libc::__errno_location() = why };
        }
        return got;
    }
    // SAFETY: the call has written this number of bytes there.
    let got_bytes = unsafe { std::slice::from_raw_parts(into.cast::<u8>(), got as usize) };
    let is_request = bytes == REQUEST_BYTES && got_bytes.starts_with(&REQUEST);
    if is_request && got_bytes.get(6..8) != Some(&LEAVES) && ANSWERS.get() < 0 {
        connection.under_way.fetch_add(1, Ordering::AcqRel);
        ANSWERS.set(descriptor);
    }
    got
}

#[unsafe(no_mangle)]
extern "C" fn send(descriptor: c_int, from: *const c_void, bytes: usize, flags: c_int) -> isize {
    let null = std::ptr::null::<c_void>();
    // SAFETY: the arguments come from the caller.
    let mut sent =
        unsafe { libc::syscall(libc::SYS_sendto, descriptor, from, bytes, flags, null, 0) }
            as isize;
    if connection(descriptor).is_none() {
        return sent;
    }
    if sent < 0 && matches!(error(), libc::EPIPE | libc::ECONNRESET) {
        sent = bytes as isize;
    }
    if sent == bytes as isize && flags & libc::MSG_MORE == 0 {
        has_answered();
    }
    sent
}

/// nbdkit calls it where a client has broken the protocol, and refuses to send from then on.
#[unsafe(no_mangle)]
extern "C" fn shutdown(descriptor: c_int, how: c_int) -> c_int {
    let connection = connection(descriptor);
    let how = if connection.is_some() { libc::SHUT_RDWR } else { how };
    // SAFETY: the arguments come from the caller.
    let done = unsafe { libc::syscall(libc::SYS_shutdown, descriptor, how) } as c_int;
    if let Some(connection) = connection {
        wait_for_others(connection, Some(Instant::now() + PATIENCE));
    }
    done
}
