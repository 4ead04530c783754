//! nbdkit's interface for plugins, version 2, as its header `nbdkit-plugin.h` declares it.
//!
//! nbdkit calls one function of a plugin by name, which returns a table of functions. A panic must
//! not leave any of them.

use crate::served::{self, Failed};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr::null;

unsafe extern "C" {
    /// Writes a line to nbdkit's log.
    fn nbdkit_error(format: *const c_char, ...);
    /// The number of the error that the client gets.
    fn nbdkit_set_error(errno: c_int);
}

type Handle = *mut c_void;

/// A place of the table that this plugin leaves empty.
type Unused = *const c_void;

/// The table of functions. New ones come at its end, and nbdkit reads its length first.
#[repr(C)]
struct Plugin {
    struct_size: u64,
    api_version: c_int,
    thread_model: c_int,
    name: *const c_char,
    longname: *const c_char,
    version: *const c_char,
    description: *const c_char,
    load: Unused,
    unload: Unused,
    config: extern "C" fn(*const c_char, *const c_char) -> c_int,
    config_complete: extern "C" fn() -> c_int,
    config_help: *const c_char,
    open: extern "C" fn(c_int) -> Handle,
    close: extern "C" fn(Handle),
    get_size: extern "C" fn(Handle) -> i64,
    can_write: Unused,
    can_flush: Unused,
    is_rotational: Unused,
    can_trim: Unused,
    of_version_1: [Unused; 5],
    errno_is_preserved: c_int,
    dump_plugin: Unused,
    can_zero: Unused,
    can_fua: extern "C" fn(Handle) -> c_int,
    pread: extern "C" fn(Handle, *mut c_void, u32, u64, u32) -> c_int,
    pwrite: extern "C" fn(Handle, *const c_void, u32, u64, u32) -> c_int,
    flush: extern "C" fn(Handle, u32) -> c_int,
    trim: extern "C" fn(Handle, u32, u64, u32) -> c_int,
    zero: extern "C" fn(Handle, u32, u64, u32) -> c_int,
    magic_config_key: *const c_char,
    can_multi_conn: extern "C" fn(Handle) -> c_int,
    can_extents: Unused,
    extents: Unused,
    can_cache: Unused,
    cache: Unused,
    thread_model_now: extern "C" fn() -> c_int,
    can_fast_zero: Unused,
    preconnect: Unused,
    get_ready: extern "C" fn() -> c_int,
    after_fork: extern "C" fn() -> c_int,
    list_exports: Unused,
    default_export: Unused,
    export_description: Unused,
    cleanup: extern "C" fn(),
    block_size: extern "C" fn(Handle, *mut u32, *mut u32, *mut u32) -> c_int,
}

// SAFETY: the table and the texts that it names never change.
unsafe impl Sync for Plugin {}

/// Each connection has one request at a time in the plugin; several connections may have one each.
const SERIALIZE_REQUESTS: c_int = 2;
/// Any request may come at any time.
const PARALLEL: c_int = 3;
/// A request that is forced to the medium is passed on as such.
const FUA_NATIVE: c_int = 2;
const MAY_TRIM: u32 = 1;
const FUA: u32 = 2;

static PLUGIN: Plugin = Plugin {
    struct_size: size_of::<Plugin>() as u64,
    api_version: 2,
    thread_model: PARALLEL,
    name: c"flashgc".as_ptr(),
    longname: c"A simulated flash drive".as_ptr(),
    version: null(),
    description: null(),
    load: null(),
    unload: null(),
    config,
    config_complete,
    config_help: c"job=<FILE>  (required) What `flashgc serve` asks for.".as_ptr(),
    open,
    close,
    get_size,
    can_write: null(),
    can_flush: null(),
    is_rotational: null(),
    can_trim: null(),
    of_version_1: [null(); 5],
    errno_is_preserved: 0,
    dump_plugin: null(),
    can_zero: null(),
    can_fua,
    pread,
    pwrite,
    flush,
    trim,
    zero,
    magic_config_key: c"job".as_ptr(),
    can_multi_conn,
    can_extents: null(),
    extents: null(),
    can_cache: null(),
    cache: null(),
    thread_model_now,
    can_fast_zero: null(),
    preconnect: null(),
    get_ready,
    after_fork,
    list_exports: null(),
    default_export: null(),
    export_description: null(),
    cleanup,
    block_size,
};

/// The function that nbdkit looks for.
#[unsafe(no_mangle)]
extern "C" fn plugin_init() -> *const c_void {
    (&raw const PLUGIN).cast()
}

/// Writes to nbdkit's log.
fn log(text: &str) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // SAFETY: both are C strings, and the format takes one of them.
    unsafe { nbdkit_error(c"%s".as_ptr(), text.as_ptr()) };
}

/// 0, or -1 with a message.
fn status(act: impl FnOnce() -> Result<(), String>) -> c_int {
    let done = catch_unwind(AssertUnwindSafe(act));
    match done.unwrap_or_else(|_| Err("error: the plugin has failed".into())) {
        Ok(()) => 0,
        Err(why) => {
            log(&why);
            -1
        }
    }
}

/// 0, or -1 with the number of an error for the client.
fn answer(act: impl FnOnce() -> Result<(), Failed>) -> c_int {
    let done = catch_unwind(AssertUnwindSafe(act));
    let failed = match done {
        Ok(Ok(())) => return 0,
        Ok(Err(failed)) => failed,
        Err(_) => Failed { errno: libc::EIO, message: Some("the plugin has failed".into()) },
    };
    if let Some(message) = failed.message {
        log(&message);
    }
    // SAFETY: it takes a number.
    unsafe { nbdkit_set_error(failed.errno) };
    -1
}

/// Does something with another mask for the modes of new files.
pub fn with_umask<T>(mask: u32, act: impl FnOnce() -> T) -> T {
    let before = set_umask(mask);
    let done = act();
    set_umask(before);
    done
}

/// Sets the mask for the modes of new files, and returns the one before.
fn set_umask(mask: u32) -> u32 {
    // SAFETY: it takes a number, and cannot fail.
    unsafe { libc::umask(mask) }
}

extern "C" fn config(key: *const c_char, value: *const c_char) -> c_int {
    status(|| {
        // SAFETY: nbdkit passes two C strings, which live until this returns.
        let (key, value) = unsafe { (CStr::from_ptr(key), CStr::from_ptr(value)) };
        let value = value.to_str().map_err(|_| "error: the value is not UTF-8".to_string())?;
        match key.to_str() {
            Ok("job") => {
                served::read_job(Path::new(value))?;
                // nbdkit has set one of its own.
                served::masks().map(|masks| set_umask(masks.files));
                Ok(())
            }
            _ => Err(format!("error: unknown parameter {}", key.to_string_lossy())),
        }
    })
}

extern "C" fn config_complete() -> c_int {
    status(|| match served::has_job() {
        true => Ok(()),
        false => Err("error: the plugin needs job=FILE; `flashgc serve` writes it".into()),
    })
}

/// Where requests are served at once, a thread for each of them would only cost time.
extern "C" fn thread_model_now() -> c_int {
    if served::is_parallel() { PARALLEL } else { SERIALIZE_REQUESTS }
}

extern "C" fn get_ready() -> c_int {
    status(|| {
        served::open()?;
        // Next nbdkit makes its socket.
        served::masks().map(|masks| set_umask(masks.socket));
        Ok(())
    })
}

/// Threads begin here, and none before.
///
/// nbdkit waits for its clients to leave, and some never do. So the end of a pipe is the end as
/// well: the report is written, and from then on requests are errors.
extern "C" fn after_fork() -> c_int {
    status(|| {
        served::masks().map(|masks| set_umask(masks.files));
        served::begin_status()?;
        let Some(pipe) = served::pipe() else { return Ok(()) };
        // SAFETY: the process that starts nbdkit opens the pipe for this plugin, its only user.
        let mut pipe = unsafe { File::from_raw_fd(pipe) };
        let waits = std::thread::Builder::new().name("end".into());
        let waits = waits.spawn(move || {
            let _ = pipe.read(&mut [0]);
            status(served::end);
        });
        waits.map(|_| ()).map_err(|error| format!("error: no thread: {error}"))
    })
}

extern "C" fn cleanup() {
    status(served::end);
}

extern "C" fn open(_readonly: c_int) -> Handle {
    match served::connects() {
        // All connections have the same drive: any address but null will do.
        Ok(()) => (&raw const PLUGIN).cast_mut().cast(),
        Err(why) => {
            log(&why);
            null::<c_void>().cast_mut()
        }
    }
}

extern "C" fn close(_: Handle) {
    served::leaves();
}

extern "C" fn get_size(_: Handle) -> i64 {
    i64::try_from(served::sizes().0).unwrap_or(i64::MAX)
}

extern "C" fn can_fua(_: Handle) -> c_int {
    FUA_NATIVE
}

extern "C" fn can_multi_conn(_: Handle) -> c_int {
    // A flush on one connection covers the writes of the others.
    1
}

extern "C" fn block_size(_: Handle, least: *mut u32, preferred: *mut u32, most: *mut u32) -> c_int {
    let page = served::sizes().1;
    let fits = page.is_power_of_two() && (512..=32 << 20).contains(&page);
    // SAFETY: nbdkit passes three numbers to be set.
    unsafe {
        *least = 1;
        *preferred = if fits { page as u32 } else { 4096 };
        *most = u32::MAX;
    }
    0
}

extern "C" fn pread(_: Handle, into: *mut c_void, count: u32, offset: u64, _: u32) -> c_int {
    // SAFETY: nbdkit passes a buffer of `count` bytes, which this call alone uses until it returns.
    let into = unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>(), count as usize) };
    answer(|| served::serve(|drive| drive.read(into, offset)))
}

extern "C" fn pwrite(_: Handle, from: *const c_void, count: u32, offset: u64, flags: u32) -> c_int {
    // SAFETY: nbdkit passes `count` bytes, which do not change until this returns.
    let from = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), count as usize) };
    answer(|| served::serve(|drive| drive.write(from, offset, flags & FUA != 0)))
}

extern "C" fn flush(_: Handle, _: u32) -> c_int {
    answer(|| served::serve(flashgc_block::Drive::flush))
}

extern "C" fn trim(_: Handle, count: u32, offset: u64, _: u32) -> c_int {
    answer(|| served::serve(|drive| drive.trim(u64::from(count), offset)))
}

extern "C" fn zero(_: Handle, count: u32, offset: u64, flags: u32) -> c_int {
    let (fua, may_trim) = (flags & FUA != 0, flags & MAY_TRIM != 0);
    answer(|| served::serve(|drive| drive.zero(u64::from(count), offset, fua, may_trim)))
}
