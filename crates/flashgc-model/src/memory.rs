//! Large tables: zeroed or filled, on huge pages where the system grants them.
//!
//! A table of zeros takes memory only where it is written, so that a large drive of which little is
//! used begins at once. So the tables of the page map are kept in a form in which nothing is 0.
//!
//! The tables of a drive are walked at random; with 4 KiB pages of the host's memory most of the
//! cost of a page operation on a large drive is the translation of addresses.

/// Elements that a table can hold: plain integers, for which all-zero bytes are a value.
pub trait Element: Copy {
    /// All bytes 0.
    const ZERO: Self;
}

macro_rules! elements {
    ($($integer:ty)*) => {
        $(impl Element for $integer {
            const ZERO: Self = 0;
        })*
    };
}

elements! { u8 u16 u32 u64 }

/// A table of `length` elements, all equal to `value`.
pub fn table<T: Element>(value: T, length: usize) -> Vec<T> {
    let mut table = Vec::with_capacity(length);
    advise_huge_pages(table.as_ptr(), length);
    table.resize(length, value);
    table
}

/// A table of `length` zeros.
pub fn zeros<T: Element>(length: usize) -> Vec<T> {
    let table = vec![T::ZERO; length];
    advise_huge_pages(table.as_ptr(), length);
    table
}

/// The bytes that a table takes from the allocator.
pub fn bytes_of<T>(table: &Vec<T>) -> u64 {
    (table.capacity() * size_of::<T>()) as u64
}

#[cfg(target_os = "linux")]
fn advise_huge_pages<T>(start: *const T, length: usize) {
    const HUGE: usize = 2 << 20;
    let bytes = length * size_of::<T>();
    if bytes < 2 * HUGE {
        return;
    }
    let first = (start as usize).next_multiple_of(HUGE);
    let last = (start as usize + bytes) / HUGE * HUGE;
    if first < last {
        // SAFETY: the range lies inside an allocation that we own, and the advice changes only how
        // its pages are backed. A refusal is harmless, so the result is ignored.
        unsafe { libc::madvise(first as *mut libc::c_void, last - first, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages<T>(_start: *const T, _length: usize) {}

/// Asks the processor to bring an element into its cache.
#[inline(always)]
pub fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if index < table.len() {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is inside the slice; a prefetch has no other effect.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(table.as_ptr().add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}
