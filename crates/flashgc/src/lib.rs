//! flashgc.
