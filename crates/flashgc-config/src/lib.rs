//! flashgc-config.
