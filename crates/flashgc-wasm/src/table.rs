//! Values by numbers that are given once.

/// Values, by number.
pub(crate) struct Table<T> {
    next: u32,
    values: Vec<(u32, T)>,
}

impl<T> Table<T> {
    /// An empty one.
    pub(crate) const fn new() -> Self {
        Table { next: 1, values: Vec::new() }
    }

    /// Adds a value, and returns its number.
    pub(crate) fn add(&mut self, value: T) -> u32 {
        let number = self.next;
        self.next += 1;
        self.values.push((number, value));
        number
    }

    /// The value of a number.
    pub(crate) fn get(&mut self, number: u32) -> Option<&mut T> {
        self.values.iter_mut().find(|(own, _)| *own == number).map(|(_, value)| value)
    }

    /// Takes a value out.
    pub(crate) fn take(&mut self, number: u32) -> Option<T> {
        let at = self.values.iter().position(|(own, _)| *own == number)?;
        Some(self.values.remove(at).1)
    }

    /// All values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.values.iter().map(|(_, value)| value)
    }
}
