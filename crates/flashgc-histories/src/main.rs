//! `make histories`: random histories until the time is over, and a summary of the findings.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod hunt;

use arguments::Arguments;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => hunt::run(&arguments),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}
