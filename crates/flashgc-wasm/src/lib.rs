//! The engine as WebAssembly, for the playground: any number of runs in a page.
//!
//! A call is a JSON object, and so is its answer ([`Request`]). The caller writes the text of the
//! call into the module's memory, with the bytes of a trace behind it where there is one:
//!
//! 1. [`flashgc_room`] gives a room of this size;
//! 2. [`flashgc_call`] reads the call there, and leaves the answer;
//! 3. [`flashgc_answer`] and [`flashgc_answer_bytes`] say where it lies.
//!
//! After a fault of the engine the module traps, and the answer is the message of the fault. That
//! is all of the interface: for four functions a generator of bindings is not worth a tool in the
//! build, whose version has to match.

mod calls;
mod memory;
mod run;
mod table;

pub use calls::{Request, answer};

use std::cell::RefCell;

thread_local! {
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A room for a call of this many bytes, and for its data.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_room(bytes: usize) -> *mut u8 {
    ROOM.with_borrow_mut(|room| {
        *room = vec![0; bytes];
        room.as_mut_ptr()
    })
}

/// Answers the call in the room: the first `text_bytes` are its text, and the others its data.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_call(text_bytes: usize) {
    std::panic::set_hook(Box::new(|fault| {
        ANSWER.with_borrow_mut(|answer| *answer = format!("error: {fault}"));
    }));
    let mut text = ROOM.take();
    let data = text.split_off(text_bytes.min(text.len()));
    let answered = answer(&text, data);
    ANSWER.set(answered);
}

/// The place of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// The length of the answer, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn flashgc_answer_bytes() -> usize {
    ANSWER.with_borrow(String::len)
}
