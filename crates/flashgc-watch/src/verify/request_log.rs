//! The log of requests: a row for each request of the measured part, in the order in which they are
//! done. Rows leave in batches, so that the log needs no more memory than one of them.

use super::requests::RequestRow;

/// Rows of a batch.
pub const BATCH_ROWS: usize = 1 << 16;

/// Receives the rows of the log of requests in batches, the last of which may be empty.
pub type RequestSink = Box<dyn FnMut(&[RequestRow]) + Send>;

/// The log of the requests of a run.
pub(super) struct RequestLog {
    sink: RequestSink,
    rows: Vec<RequestRow>,
}

impl RequestLog {
    /// An empty log.
    pub(super) fn new(sink: RequestSink) -> Self {
        RequestLog { sink, rows: Vec::new() }
    }

    /// A request is done.
    pub(super) fn served(&mut self, row: RequestRow) {
        self.rows.push(row);
        if self.rows.len() == BATCH_ROWS {
            self.hand_out();
        }
    }

    /// Hands out the rows so far.
    pub(super) fn hand_out(&mut self) {
        (self.sink)(&self.rows);
        self.rows.clear();
    }
}
