//! Timeline pages: Markdown for readers, which a test runs.
//!
//! A page is text with fenced blocks. Input blocks say what runs: `toml` (settings over those of
//! the tiny device, and over the earlier ones of the page), `before` (pages written untimed) and
//! `requests`. Output blocks have the results and are compared: `timeline`, `phases`, `figure`,
//! `latency`, `parts`, `blocks`, `blocks before`, `counts` and `error`. Blocks with other names are
//! text.

pub mod eyes;
pub mod film;
pub mod page;
pub mod render;
pub mod request;
pub mod run;
