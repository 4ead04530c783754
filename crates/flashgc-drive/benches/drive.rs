//! Saving and loading a drive: size of the file, time to write it, time to read it, and time until
//! a run can begin on it.
//!
//! `cargo bench -p flashgc-drive` does it with a drive of 32 GiB in pages of 4 KiB; with `cargo
//! test` the drive is small.
#![allow(clippy::print_stdout)]

use flashgc::session::{Inputs, Options, Phase, SavedDrive, Session, Setup, prepare};
use flashgc_drive::{Limits, open, write};
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::process::ExitCode;
use std::time::Instant;

/// 4 KiB uniform random writes: 16 planes, so that a plane of 512 blocks makes 4 GiB.
fn setup(blocks_per_plane: u32, scheme: &str) -> Result<Setup, String> {
    let text = format!(
        r#"
[device]
channels = 4
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = {blocks_per_plane}
pages_per_block = 128
page_size = "4 KiB"
exported = 0.875
unit = "die"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "10 ns/B"
[gc]
scheme = "{scheme}"
[workload.synthetic]
requests = 1000
queue_depth = 64
[precondition]
overwrite = 1.0
"#
    );
    let inputs = Inputs { name: "bench".into(), text, ..Inputs::default() };
    prepare(&inputs).map_err(|errors| errors.to_string())
}

fn ready(session: &mut Session) -> Result<(), String> {
    while session.advance().map_err(|error| error.text)?.phase != Phase::Ready {}
    Ok(())
}

fn bench(blocks_per_plane: u32) -> Result<(), String> {
    let words = |error: std::io::Error| error.to_string();
    let own = setup(blocks_per_plane, "greedy")?;
    let pages = own.plan.geometry.pages;
    let gib = f64::from(pages) * 4096.0 / f64::from(1u32 << 30);
    let start = Instant::now();
    let mut session = Session::new(own.clone(), None, Options::default());
    ready(&mut session)?;
    let saved = session.into_drive().map_err(|error| error.text)?;
    println!("{gib:.1} GiB, {pages} pages; preconditioned in {:.3} s", since(start));
    let path = std::env::temp_dir().join(format!("flashgc-bench-{}.drive", std::process::id()));
    let start = Instant::now();
    let mut file = BufWriter::new(File::create(&path).map_err(words)?);
    let bytes = write(&mut file, &saved).map_err(words)?;
    file.flush().map_err(words)?;
    println!(
        "  saved in {:.3} s: {bytes} bytes, {:.2} a page",
        since(start),
        bytes as f64 / f64::from(pages)
    );
    drop(saved);
    for scheme in ["greedy", "fifo", "cost-benefit"] {
        let own = setup(blocks_per_plane, scheme)?;
        let start = Instant::now();
        let saved = load(&path, &own)?;
        let read = since(start);
        let session = Session::with_drive(own, None, saved, "bench", Options::default());
        let mut session = session.map_err(|error| error.text)?;
        ready(&mut session)?;
        println!("  loaded for {scheme} in {:.3} s, {read:.3} s of it to read", since(start));
    }
    std::fs::remove_file(&path).map_err(words)
}

fn load(path: &std::path::Path, setup: &Setup) -> Result<SavedDrive, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let opened = open(BufReader::new(file)).map_err(|error| error.to_string())?;
    opened.load(&Limits::of(&setup.plan.geometry)).map_err(|error| error.to_string())
}

fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` passes the flag for measuring; anything else runs the small form.
    let measures =
        arguments.iter().any(|a| a == "--bench") && !arguments.iter().any(|a| a == "--test");
    match bench(if measures { 4096 } else { 64 }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
