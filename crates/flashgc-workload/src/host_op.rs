//! The kinds of requests.

use serde::Serialize;

/// One list of the kinds: a loop over [`HostOp::ALL`] covers all of them.
macro_rules! host_ops {
    ($($(#[$doc:meta])+ $op:ident: $name:literal),+ $(,)?) => {
        /// The operation of a request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "lowercase")]
        pub enum HostOp {
            $($(#[$doc])+ $op),+
        }

        impl HostOp {
            /// Every kind, in the order of their numbers.
            pub const ALL: &[HostOp] = &[$(HostOp::$op),+];

            /// Its name, as in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(HostOp::$op => $name),+
                }
            }
        }
    };
}

host_ops! {
    /// Reads data.
    Read: "read",
    /// Writes data.
    Write: "write",
    /// Discards data.
    Trim: "trim",
    /// Asks that the writes that are done survive a loss of power. It has no pages.
    Flush: "flush",
}

impl HostOp {
    /// Whether its latency is split by causes.
    #[inline(always)]
    pub fn has_parts(self) -> bool {
        matches!(self, HostOp::Read | HostOp::Write)
    }
}
