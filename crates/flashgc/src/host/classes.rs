//! Flushes where pages have classes: a program joins pages of one class.
//!
//! A flush is due when enough pages wait for one class to fill a program. When it gets its place,
//! the class of each page that waits is asked, and the flush takes those of one class: of the class
//! that has the most, or of one that must go to flash now. Its other pages wait again. Data that
//! comes in while the page waits has a class of its own.

use super::Host;
use crate::ids::Lpn;
use crate::plan::CLASSES_MAX;
use std::cmp::Reverse;

/// The pages that a flush may take, the one used least recently first: its own, and as many that
/// nothing flushes as make sure that one class fills a program. Where a flush would be padded,
/// others replace those that were trimmed.
pub fn may_join(host: &Host, flush: u32) -> Vec<Lpn> {
    let Some(buffer) = &host.buffer else { return Vec::new() };
    let own = buffer.joined.pages(flush);
    let trimmed = if buffer.plan.is_protected { 0 } else { buffer.slots - own.len() as u32 };
    let others = (buffer.due - buffer.slots + trimmed) as usize;
    own.iter().copied().chain(buffer.pages.next_to_flush().take(others)).collect()
}

/// The pages that may take the places of those that were trimmed since a flush got this room, the
/// one used least recently first: as many as make sure that one class fills it.
pub fn may_fill_up(host: &Host, flush: u32, room: u32) -> Vec<Lpn> {
    let Some(buffer) = &host.buffer else { return Vec::new() };
    let trimmed = room - buffer.joined.pages(flush).len() as u32;
    let count = if trimmed == 0 { 0 } else { buffer.due - buffer.slots + trimmed };
    buffer.pages.next_to_flush().take(count as usize).collect()
}

/// The class of a page in the buffer, where it was asked.
pub fn class_of(host: &Host, lpn: Lpn) -> Option<u8> {
    host.buffer.as_ref().and_then(|buffer| buffer.pages.class(lpn))
}

/// The class of a page in the buffer was asked.
pub fn has_class(host: &mut Host, lpn: Lpn, class: u8) {
    if let Some(buffer) = &mut host.buffer {
        buffer.pages.set_class(lpn, class);
    }
}

/// The class that a flush takes of these pages, whose classes are known: that of its first page
/// for which a command waits, or the one with the most pages.
pub fn class_to_flush(host: &Host, flush: u32, pages: &[Lpn]) -> u8 {
    let own = &pages[..host.pages_of(flush) as usize];
    if let Some(&lpn) = own.iter().find(|&&lpn| host.is_awaited(lpn)) {
        return class_of(host, lpn).unwrap_or(0);
    }
    let mut count = [0u32; CLASSES_MAX];
    pages.iter().for_each(|&lpn| count[usize::from(class_of(host, lpn).unwrap_or(0))] += 1);
    // Of several the lowest.
    let most = (0..CLASSES_MAX).max_by_key(|&class| (count[class], Reverse(class)));
    most.unwrap_or(0) as u8
}

/// A flush takes the pages of a class among these, at most `room`. Its other pages may be
/// flushed later.
pub fn take_class(host: &mut Host, flush: u32, class: u8, pages: &[Lpn], room: u32) {
    let is_of_class = |&lpn: &Lpn| class_of(host, lpn) == Some(class);
    let of_class = pages.iter().copied().filter(is_of_class);
    let taken: Vec<Lpn> = of_class.take(room as usize).collect();
    let Some(buffer) = &mut host.buffer else { return };
    let before = buffer.joined.replace(flush, taken.clone());
    let added = taken.iter().filter(|lpn| !before.contains(lpn));
    added.for_each(|&lpn| buffer.pages.flush_waits(lpn, flush));
    let left: Vec<Lpn> = before.into_iter().filter(|lpn| !taken.contains(lpn)).collect();
    left.iter().for_each(|&lpn| buffer.pages.flush_is_put_off(lpn));
    if let Some(&first) = taken.first() {
        host.waiting.op_mut(flush).lpn = first;
    }
    host.flush_later(left.into_iter());
}
