//! A lock of the C library, which tools for programs in C know (valgrind's helgrind): they cannot
//! see those of Rust.

use std::cell::UnsafeCell;

/// A value behind a lock.
pub(crate) struct Lock<T> {
    own: UnsafeCell<libc::pthread_mutex_t>,
    value: UnsafeCell<T>,
}

// SAFETY: only who has the lock reaches the value.
unsafe impl<T: Send> Sync for Lock<T> {}
// SAFETY: the lock is free while it moves, since nothing borrows it.
unsafe impl<T: Send> Send for Lock<T> {}

/// Frees the lock, also where its owner panics.
struct Held(*mut libc::pthread_mutex_t);

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: this thread has the lock.
        unsafe { libc::pthread_mutex_unlock(self.0) };
    }
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        let own = UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER);
        Lock { own, value: UnsafeCell::new(value) }
    }

    /// Does something with the value, after those who have it.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the lock is initialised, and never moves while it is borrowed.
        unsafe { libc::pthread_mutex_lock(self.own.get()) };
        let _held = Held(self.own.get());
        // SAFETY: this thread alone has the lock.
        act(unsafe { &mut *self.value.get() })
    }

    /// The same, or nothing where another has it.
    pub(crate) fn try_with<R>(&self, act: impl FnOnce(&mut T) -> R) -> Option<R> {
        // SAFETY: as above.
        if unsafe { libc::pthread_mutex_trylock(self.own.get()) } != 0 {
            return None;
        }
        let _held = Held(self.own.get());
        // SAFETY: as above.
        Some(act(unsafe { &mut *self.value.get() }))
    }
}
