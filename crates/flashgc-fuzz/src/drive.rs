//! Saved drives. Half of the inputs are files; the others are edits of a sound state, which no
//! checksum keeps from the engine: it refuses them, or runs on them without a fault.

use flashgc::session::{Inputs, Options, Phase, SavedDrive, Session, Setup, prepare};
use flashgc_drive::{Limits, decode, write};
use std::sync::OnceLock;

const CONFIGURATION: &str = r#"
[device]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 16
pages_per_block = 8
page_size = "4 KiB"
exported = 0.6
unit = "die"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "0 ns/B"
[gc.trigger.watermark]
soft = "3 blocks"
[workload.synthetic]
requests = 200
queue_depth = 4
[precondition]
overwrite = 1.2
"#;

struct Sound {
    setup: Setup,
    saved: SavedDrive,
    limits: Limits,
}

/// A drive that is as it should be.
fn sound() -> Option<&'static Sound> {
    static SOUND: OnceLock<Option<Sound>> = OnceLock::new();
    let make = || {
        let inputs = Inputs { text: CONFIGURATION.into(), ..Inputs::default() };
        let setup = prepare(&inputs).ok()?;
        let limits = Limits::of(&setup.plan.geometry);
        let mut session = Session::new(setup.clone(), None, Options::default());
        while session.advance().ok()?.phase != Phase::Ready {}
        Some(Sound { setup, saved: session.into_drive().ok()?, limits })
    };
    SOUND.get_or_init(make).as_ref()
}

/// An even first byte: the rest is a file. An odd one: the rest are edits, eight bytes each.
pub fn drive(data: &[u8]) {
    let Some((&kind, rest)) = data.split_first() else { return };
    let sound = sound().expect("the drive of this target can be made");
    if kind % 2 == 0 {
        match decode(rest, &sound.limits) {
            Ok(saved) => runs(sound, saved),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        return;
    }
    let mut saved = sound.saved.clone();
    for edit in rest.chunks_exact(8) {
        let at = usize::from(u16::from_le_bytes([edit[2], edit[3]]));
        let value = u32::from_le_bytes([edit[4], edit[5], edit[6], edit[7]]);
        change(&mut saved, edit[0], at, value);
    }
    let mut file = Vec::new();
    assert!(write(&mut file, &saved).is_ok());
    if let Ok(read) = decode(&file, &sound.limits) {
        assert_eq!(read, saved, "what is read is what was written");
        runs(sound, saved);
    }
}

fn change(saved: &mut SavedDrive, section: u8, at: usize, value: u32) {
    let state = &mut saved.state;
    let numbers = match section % 7 {
        0 => &mut state.map,
        1 => &mut state.order,
        2 => &mut state.erases,
        3 => {
            let plane = at % state.planes.len();
            let plane = &mut state.planes[plane];
            let [sealed, open, triggered, _] = value.to_le_bytes();
            (plane.sealed, plane.open, plane.triggered) =
                (sealed.into(), open.into(), triggered > 0);
            return;
        }
        4 => {
            let at = at % state.sealed_at_ns.len();
            state.sealed_at_ns[at] = u64::from(value) << (section / 7);
            return;
        }
        5 => {
            state.age_ns = u64::from(value) << (section / 7);
            return;
        }
        _ => {
            state.open.truncate(at);
            return;
        }
    };
    if !numbers.is_empty() {
        let at = at % numbers.len();
        numbers[at] = value;
    }
}

/// The engine refuses the drive, or a watched run on it comes to its end.
fn runs(sound: &Sound, saved: SavedDrive) {
    let watched = Options { verify: true, ..Options::default() };
    match Session::with_drive(sound.setup.clone(), None, saved, "input", watched) {
        Err(error) => assert!(!error.text.is_empty()),
        Ok(mut session) => loop {
            match session.advance() {
                Ok(progress) if progress.phase == Phase::Done => break,
                Ok(_) => {}
                Err(error) => {
                    assert!(!error.text.is_empty());
                    break;
                }
            }
        },
    }
}
