//! Runs a configuration: `cargo run --release --example run_config FILE [TRACE] [key=value ...]`.
#![allow(clippy::print_stdout)]

use flashgc::session::{Inputs, Options, Phase, Session, TraceOpener, prepare};
use std::fs::File;
use std::io::Read;

struct FileOpener(String);

impl TraceOpener for FileOpener {
    fn name(&self) -> String {
        self.0.clone()
    }

    fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
        let file = File::open(&self.0).map_err(|error| format!("{}: {error}", self.0))?;
        Ok(Box::new(file))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("give a configuration")?;
    let (sets, traces): (Vec<String>, Vec<String>) = arguments.partition(|a| a.contains('='));
    let trace = traces.into_iter().next();
    let text = std::fs::read_to_string(&name)?;
    let has = |name: &str| std::env::var_os(name).is_some();
    let (verify, blame) = (has("VERIFY"), has("BLAME"));
    let inputs = Inputs { name, text, sets, has_trace: trace.is_some(), ..Inputs::default() };
    let setup = prepare(&inputs).map_err(|errors| errors.to_string())?;
    let opener = trace.map(|path| Box::new(FileOpener(path)) as Box<dyn TraceOpener>);
    let mut session = Session::new(setup, opener, Options { verify, blame, ..Options::default() });
    while session.advance()?.phase != Phase::Done {}
    println!("{:#}", session.report().to_json());
    Ok(())
}
