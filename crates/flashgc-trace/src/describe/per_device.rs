//! Statistics of each device.

use crate::error::TraceError;
use std::collections::BTreeMap;

/// More devices than this are a sign of a wrong format.
const DEVICES_MAX: usize = 1 << 20;

/// Statistics of each device, found quickly for the device of the row before.
pub(super) struct PerDevice<T> {
    index: BTreeMap<u64, usize>,
    values: Vec<T>,
    last: Option<(u64, usize)>,
}

impl<T: Default> PerDevice<T> {
    pub(super) fn new() -> Self {
        PerDevice { index: BTreeMap::new(), values: Vec::new(), last: None }
    }

    /// The device's number, in order of its first row, and its statistics.
    #[inline]
    pub(super) fn get(&mut self, source: &str, device: u64) -> Result<(u32, &mut T), TraceError> {
        let at = match self.last {
            Some((last, at)) if last == device => at,
            _ => *self.index.entry(device).or_insert(self.values.len()),
        };
        self.last = Some((device, at));
        if at == self.values.len() {
            if at == DEVICES_MAX {
                let message = format!("the trace has more than {DEVICES_MAX} devices");
                return Err(TraceError::new(source, message)
                    .help("check the format and the column of the device"));
            }
            self.values.push(T::default());
        }
        Ok((at as u32, &mut self.values[at]))
    }

    /// In order of id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.index.iter().map(|(device, at)| (*device, &self.values[*at]))
    }

    /// The statistics alone, in order of the devices' first rows.
    pub(super) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}
