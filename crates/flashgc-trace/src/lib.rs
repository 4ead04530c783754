//! flashgc-trace.
