//! A component is made of what C gives.

use crate::guard::{is_null, text_of};
use crate::lock::Lock;
use crate::types::{Failed, flashgc_options, flashgc_status};
use flashgc::component::{self, Component, Options};
use flashgc::session::{self, Inputs, SavedDrive, Setup};
use flashgc_drive::Limits;
use std::fs::File;
use std::io::{self, BufReader};

static CONFIGURING: Lock<()> = Lock::new(());

/// The component of these options.
///
/// # Safety
/// As in [`crate::flashgc_open`].
pub(crate) unsafe fn component_of(given: *const flashgc_options) -> Result<Component, Failed> {
    // SAFETY: as promised.
    let given = unsafe { given.as_ref() }.ok_or_else(|| is_null("options"))?;
    if given.size != size_of::<flashgc_options>() {
        return Err(bad(format!(
            "error: `options.size` is {}, and flashgc_options has {} bytes\n  = help: set it to \
             sizeof(flashgc_options), and compile with the header of this library",
            given.size,
            size_of::<flashgc_options>()
        )));
    }
    // SAFETY: as promised, of each text.
    let text = |text, what: &str| unsafe { text_of(text, what) };
    let mut sets = Vec::new();
    if given.set_count > 0 && given.sets.is_null() {
        return Err(is_null("options.sets"));
    }
    for at in 0..given.set_count {
        // SAFETY: there are as many settings as promised.
        let set = unsafe { *given.sets.add(at) };
        let what = format!("options.sets[{at}]");
        sets.push(text(set, &what)?.ok_or_else(|| is_null(&what))?);
    }
    let inputs = Inputs {
        name: text(given.name, "options.name")?.unwrap_or_else(|| "options.config".into()),
        text: text(given.config, "options.config")?.unwrap_or_default(),
        scheme: text(given.scheme, "options.scheme")?.map(|scheme| (scheme, None)),
        device: text(given.device, "options.device")?.map(|device| (device, None)),
        sets,
        ..Inputs::default()
    };
    // Presets are read and the abilities of the processor are read once for all, by means of Rust
    // that helgrind cannot see.
    let setup = CONFIGURING.with(|()| {
        let setup = component::setup(inputs);
        setup.inspect(|setup| drop(setup.config_hash()))
    })?;
    let saved = match text(given.drive, "options.drive")? {
        Some(path) => Some((saved(&setup, &path)?, path)),
        None => None,
    };
    let (blame, verify) = (given.parts != 0, given.verify != 0);
    let session = session::Options { verify, blame, ..session::Options::default() };
    let depth = Some(given.depth).filter(|&depth| depth > 0);
    Ok(Component::new(setup, Options { saved, depth, session, ..Options::default() })?)
}

fn bad(text: String) -> Failed {
    Failed::new(flashgc_status::FLASHGC_BAD_ARGUMENT, text)
}

/// The file of a drive, or the reason why it cannot be read.
fn open(path: &str) -> Result<File, String> {
    let reason = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("{path}: there is no such file"),
        io::ErrorKind::PermissionDenied => format!("{path}: permission denied"),
        io::ErrorKind::NotADirectory => format!("{path}: a part of the path is not a directory"),
        _ => format!("{path}: {error}"),
    };
    let file = File::open(path).map_err(reason)?;
    if file.metadata().map_err(reason)?.is_dir() {
        return Err(format!("{path} is a directory, not a file"));
    }
    Ok(file)
}

/// The drive in a file.
fn saved(setup: &Setup, path: &str) -> Result<SavedDrive, Failed> {
    let failed = |text| Failed::new(flashgc_status::FLASHGC_CONFIGURATION, text);
    let help = "`flashgc drive save CONFIG FILE` makes one";
    let wrong = |why: String| failed(format!("error: {why}\n  --> {path}\n  = help: {help}"));
    if path.is_empty() {
        return Err(bad("error: the name in `options.drive` is empty\n  = help: name a file of \
                        `flashgc drive save`, or give NULL for a drive that is preconditioned here"
            .into()));
    }
    let file = open(path).map_err(|why| failed(format!("error: {why}\n  = help: {help}")))?;
    let opened = flashgc_drive::open(BufReader::with_capacity(1 << 20, file));
    let opened = opened.map_err(|why| wrong(why.to_string()))?;
    let fit = opened.header.origin.check_fit(setup, path);
    fit.map_err(|error| failed(error.text))?;
    opened.load(&Limits::of(&setup.plan.geometry)).map_err(|why| wrong(why.to_string()))
}
