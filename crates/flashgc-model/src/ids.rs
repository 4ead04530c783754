//! Addresses and indices. One type each, so that a plane is never taken for a block.
//!
//! Glossary, smallest first: a *page* is the unit of read and program; a *block* is the unit of
//! erase, and where a scheme erases *sub-blocks*, each of them is numbered as a block; a *plane*
//! holds blocks and one data register; a *die* holds planes; a *chip* (package)
//! holds dies; a *channel* connects chips by one bus. A *unit* is the part that one array
//! operation keeps busy: a plane, die, chip or channel, as the device sets it.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id that stands for "none" in packed tables.
            pub const NONE: $name = $name(u32::MAX);

            /// The id as a table index.
            #[inline(always)]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Whether this is a real id.
            #[inline(always)]
            pub fn is_some(self) -> bool {
                self.0 != u32::MAX
            }
        }
    };
}

id!(
    /// A logical page: the unit of the host's addresses.
    Lpn
);
id!(
    /// A physical page, counted through the device: plane, then block, then page.
    Ppn
);
id!(
    /// A part that can be erased alone, counted through the device: plane, then block in the plane,
    /// then sub-block where sub-blocks are erased.
    BlockId
);
id!(
    /// A plane, numbered in the order of striping (channel fastest by default).
    PlaneId
);
id!(
    /// A unit: the part that one array operation keeps busy.
    UnitId
);
id!(
    /// A channel's bus.
    BusId
);

/// Division by a number fixed at start, as one multiplication.
///
/// Exact for every 32-bit dividend.
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    value: u32,
    magic: u64,
}

impl Divisor {
    /// A divisor. Panics on zero: a plan never builds one.
    pub fn new(value: u32) -> Self {
        assert!(value > 0, "division by zero");
        // For 1 the magic number would be 2^64; `divide` handles it apart.
        Divisor { value, magic: (u64::MAX / u64::from(value)).wrapping_add(1) }
    }

    /// `dividend / value`.
    #[inline(always)]
    pub fn divide(self, dividend: u32) -> u32 {
        if self.value == 1 {
            return dividend;
        }
        ((u128::from(dividend) * u128::from(self.magic)) >> 64) as u32
    }

    /// Quotient and remainder.
    #[inline(always)]
    pub fn divide_with_rest(self, dividend: u32) -> (u32, u32) {
        let quotient = self.divide(dividend);
        (quotient, dividend - quotient * self.value)
    }

    /// The number divided by.
    #[inline(always)]
    pub fn value(self) -> u32 {
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::Divisor;

    #[test]
    fn divisor_agrees_with_division() {
        for value in [1u32, 2, 3, 7, 64, 100, 768, 2304, 65_535, 1 << 20, u32::MAX] {
            let divisor = Divisor::new(value);
            for base in [0u32, 1, value - 1, value, value.saturating_add(1), u32::MAX - 1, u32::MAX]
            {
                for shift in 0..8u32 {
                    let dividend = base.wrapping_sub(shift * 13);
                    assert_eq!(divisor.divide(dividend), dividend / value);
                    assert_eq!(
                        divisor.divide_with_rest(dividend),
                        (dividend / value, dividend % value)
                    );
                }
            }
        }
    }
}
