//! A histogram of latencies that keeps every value within 0.1 %.
//!
//! Values below 2,048 ns have a bucket each. From there on the buckets of each power of two are
//! 1,024, equally wide, as in HdrHistogram with three significant digits. Only shifts and
//! comparisons name a bucket: no logarithm, whose last digit may depend on the machine.

use flashgc_model::memory;

/// Values below this have a bucket each.
const EXACT_BITS: u32 = 11;
/// Buckets of each power of two above.
const HALF: usize = 1 << (EXACT_BITS - 1);
/// The largest value that the histogram distinguishes has this many bits: about 104 days in ns.
const VALUE_BITS: u32 = 53;
/// Number of buckets that one comparison with zero covers.
const SIDE: usize = 16;
const BUCKETS: usize = (VALUE_BITS - EXACT_BITS + 2) as usize * HALF;

/// A value for each bucket, in blocks that are made when they are used: most of a histogram is
/// empty, and a short run must not pay for it.
#[derive(Clone)]
pub struct Buckets<T> {
    blocks: Vec<Option<Box<[T; HALF]>>>,
    empty: T,
}

impl<T: Copy> Buckets<T> {
    /// This value everywhere.
    pub fn new(empty: T) -> Self {
        Buckets { blocks: vec![None; BUCKETS / HALF], empty }
    }

    /// The value at a [place](Histogram::place_of).
    #[inline(always)]
    pub fn at(&mut self, place: usize) -> &mut T {
        let block = &mut self.blocks[place / HALF];
        if block.is_none() {
            make(block, self.empty);
        }
        match block {
            Some(block) => &mut block[place % HALF],
            None => unreachable!("it was made"),
        }
    }

    /// The value at a place will be used soon.
    #[inline(always)]
    pub fn prefetch(&self, place: usize) {
        if let Some(block) = &self.blocks[place / HALF] {
            memory::prefetch(&block[..], place % HALF);
        }
    }

    /// The value at a place, where nothing may be.
    pub fn get(&self, place: usize) -> T {
        self.blocks[place / HALF].as_ref().map_or(self.empty, |block| block[place % HALF])
    }

    /// The values of all blocks in use, with their places, in order.
    pub fn used(&self) -> impl Iterator<Item = (usize, &T)> {
        self.blocks().flat_map(|(at, block)| (at * HALF..).zip(block.iter()))
    }

    fn blocks(&self) -> impl Iterator<Item = (usize, &[T; HALF])> {
        let blocks = self.blocks.iter().enumerate();
        blocks.filter_map(|(at, block)| block.as_deref().map(|block| (at, block)))
    }
}

impl Buckets<u64> {
    /// The values that are not 0, with their places, in order. Most are 0, and a short run must not
    /// pay for them: they are passed over several at a time.
    fn some(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let is_some = |values: &[u64; SIDE]| values.iter().fold(0, |all, value| all | value) != 0;
        let places = self.blocks().flat_map(move |(at, block)| {
            let (sides, _) = block.as_chunks::<SIDE>();
            let sides = (at * HALF..).step_by(SIDE).zip(sides);
            sides.filter(move |(_, values)| is_some(values))
        });
        let each = places.flat_map(|(at, values)| (at..).zip(values.iter().copied()));
        each.filter(|&(_, value)| value != 0)
    }
}

#[cold]
#[inline(never)]
fn make<T: Copy>(block: &mut Option<Box<[T; HALF]>>, empty: T) {
    *block = vec![empty; HALF].into_boxed_slice().try_into().ok();
}

/// Counts of values by bucket.
#[derive(Clone)]
pub struct Histogram {
    counts: Buckets<u64>,
    total: u64,
}

/// The values that share a bucket, and how often they were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest of the values.
    pub first: u64,
    /// The largest of the values.
    pub last: u64,
    /// The number of values in it.
    pub count: u64,
}

impl Bucket {
    /// The value in the middle.
    pub fn median(&self) -> u64 {
        self.first + (self.last - self.first).div_ceil(2)
    }
}

impl Default for Histogram {
    /// Nothing was recorded.
    fn default() -> Self {
        Histogram { counts: Buckets::new(0), total: 0 }
    }
}

impl Histogram {
    /// By how many bits the values of the bucket of this value are shifted.
    #[inline(always)]
    fn shift(value: u64) -> u32 {
        let exact = (1u64 << EXACT_BITS) - 1;
        u64::BITS - EXACT_BITS - (value | exact).leading_zeros()
    }

    /// The number of the bucket of a value. Values beyond the range share the bucket of 2^52.
    #[inline(always)]
    pub fn place_of(value: u64) -> usize {
        let shift = Self::shift(value);
        let at = shift as usize * HALF + (value >> shift) as usize;
        if at < BUCKETS { at } else { BUCKETS - HALF }
    }

    /// Records a value.
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        *self.counts.at(Self::place_of(value)) += 1;
        self.total += 1;
    }

    /// The number of values in the bucket of this value.
    pub fn count_of(&self, value: u64) -> u64 {
        self.counts.get(Self::place_of(value))
    }

    /// Adds the values of another histogram.
    pub fn add(&mut self, other: &Histogram) {
        for (place, count) in other.counts.some() {
            *self.counts.at(place) += count;
        }
        self.total += other.total;
    }

    /// Values recorded.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The buckets in which values were recorded, in their order.
    pub fn recorded(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts.some().map(|(at, count)| {
            let shift = (at / HALF).saturating_sub(1);
            let first = ((at - shift * HALF) as u64) << shift;
            Bucket { first, last: first + (1 << shift) - 1, count }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> impl Iterator<Item = u64> {
        let edges = (0..60).flat_map(|bits| {
            let at = 1u64 << bits;
            [at - 1, at, at + 1, at + at / 2, at + at / 3]
        });
        (0..5_000).chain(edges)
    }

    /// The buckets of HdrHistogram, so that results of earlier versions stay.
    #[test]
    fn buckets_are_those_of_hdr_histogram() {
        let mut own = Histogram::default();
        let mut other = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1 << 52, 3).unwrap();
        for value in values() {
            own.record(value);
            other.saturating_record(value);
        }
        let expected = other.iter_recorded().map(|bucket| {
            let at = bucket.value_iterated_to();
            (at, other.median_equivalent(at), bucket.count_at_value())
        });
        let found = own.recorded().map(|bucket| (bucket.last, bucket.median(), bucket.count));
        assert!(found.eq(expected));
        assert_eq!(own.total(), other.len());
    }

    #[test]
    fn adding_is_recording_both() {
        let (mut all, mut sum) = (Histogram::default(), Histogram::default());
        for (at, value) in values().enumerate() {
            all.record(value);
            let mut one = Histogram::default();
            one.record(value);
            if at % 97 == 0 {
                sum.add(&one);
            } else {
                sum.record(value);
            }
        }
        assert_eq!(sum.total(), all.total());
        assert!(sum.recorded().eq(all.recorded()));
    }
}
