//! Drives for the tests, and a second small program that every drive must agree with: an array of
//! bytes.

use flashgc::session::{Inputs, Setup, prepare};
use flashgc_block::{Backing, Drive, DriveError, Opening, Time};

/// The device and the settings for a run of any scheme, on 8 planes.
pub const BASE: &str = r#"
seed = 3
[device]
channels = 2
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 2
blocks_per_plane = 40
pages_per_block = 8
sub_blocks = 4
layers = 8
page_size = "4 KiB"
registers = 2
exported = 0.5
unit = "plane"
suspend = { suspend = "20 us", resume = "7 us" }
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "5 ns/B"
command = "0 ns"
[gc.trigger.watermark]
soft = "6 blocks"
[gc.placement.hotness-groups]
groups = 3
thresholds = [2, 4, 8]
[gc.placement.dac]
classes = 3
[gc.placement.sfs]
classes = 3
[gc.placement.multilog]
classes = 3
[gc.placement.fadac]
classes = 3
"#;

/// Flash pages of four mapped units.
pub const SLOTS: &[&str] = &[
    "device.page_size=\"16 KiB\"",
    "device.mapping_unit=\"4 KiB\"",
    "device.allocation=\"dynamic\"",
    "device.pages_per_block=4",
    "device.layers=4",
    "device.sub_blocks=1",
    "device.registers=1",
    "device.blocks_per_plane=24",
];

/// The setup of a drive, if the configuration is accepted.
pub fn setup_or_none(sets: &[&str]) -> Option<Setup> {
    let inputs = Inputs {
        name: "drive.toml".into(),
        text: BASE.into(),
        sets: sets.iter().map(|set| (*set).to_string()).collect(),
        has_trace: true,
        ..Inputs::default()
    };
    prepare(&inputs).ok()
}

/// The parts of a drive in memory, under the checker.
pub fn opening(sets: &[&str]) -> Opening {
    opening_of(setup_or_none(sets).unwrap_or_else(|| panic!("{sets:?} is refused")))
}

/// The parts of a drive with this setup.
pub fn opening_of(setup: Setup) -> Opening {
    Opening {
        setup,
        saved: None,
        backing: Backing::Memory,
        verify: true,
        time: Time::Off,
        capture: None,
        watched: false,
    }
}

/// A drive in memory, under the checker.
pub fn drive(sets: &[&str]) -> Drive {
    Drive::open(opening(sets), |_| true).expect("the drive opens")
}

/// Random choices that are the same on every machine.
pub struct Choices(u64);

impl Choices {
    pub fn new(seed: u64) -> Self {
        Choices(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) % bound
    }
}

/// The content that a drive must have.
pub struct Model {
    bytes: Vec<u8>,
    page: u64,
    stamp: u64,
}

impl Model {
    pub fn of(drive: &Drive) -> Self {
        let bytes = vec![0; usize::try_from(drive.bytes()).expect("a small drive")];
        Model { bytes, page: drive.page_bytes(), stamp: 0 }
    }

    fn extent(&self, choices: &mut Choices) -> (u64, u64) {
        let pages = self.bytes.len() as u64 / self.page;
        // Half of the requests go to a tenth of the drive.
        let pages = if choices.below(2) == 0 { pages / 10 } else { pages };
        let (offset, bytes) = match choices.below(4) {
            0 => (choices.below(pages) * self.page, self.page),
            1 => (choices.below(pages) * self.page, (1 + choices.below(6)) * self.page),
            2 => (choices.below(pages * self.page / 512) * 512, 512 * (1 + choices.below(40))),
            _ => (choices.below(pages * self.page), 1 + choices.below(3 * self.page)),
        };
        (offset, bytes.min(self.bytes.len() as u64 - offset))
    }

    fn part(&mut self, offset: u64, bytes: u64) -> &mut [u8] {
        &mut self.bytes[offset as usize..(offset + bytes) as usize]
    }

    /// One random request, to the drive and to the array. An error where they differ.
    pub fn request(&mut self, drive: &Drive, choices: &mut Choices) -> Result<(), String> {
        let (offset, bytes) = self.extent(choices);
        let failed = |error: DriveError| error.to_string();
        match choices.below(20) {
            0..9 => {
                self.stamp += 1;
                let first = self.stamp.wrapping_mul(0x9e37_79b9) as u8;
                let data: Vec<u8> = (0..bytes).map(|at| first.wrapping_add(at as u8)).collect();
                drive.write(&data, offset, choices.below(8) == 0).map_err(failed)?;
                self.part(offset, bytes).copy_from_slice(&data);
            }
            9..16 => {
                let mut found = vec![0xEE; bytes as usize];
                drive.read(&mut found, offset).map_err(failed)?;
                let due = self.part(offset, bytes);
                if let Some(at) = found.iter().zip(&*due).position(|(found, due)| found != due) {
                    let (found, due) = (found[at], due[at]);
                    return Err(format!("byte {}: {found}, not {due}", offset + at as u64));
                }
            }
            16..18 => {
                drive.trim(bytes, offset).map_err(failed)?;
                let (page, end) = (self.page, offset + bytes);
                let (from, to) = (offset.next_multiple_of(page), end / page * page);
                if from < to {
                    self.part(from, to - from).fill(0);
                }
            }
            18 => {
                let (fua, may_trim) = (choices.below(4) == 0, choices.below(2) == 0);
                drive.zero(bytes, offset, fua, may_trim).map_err(failed)?;
                self.part(offset, bytes).fill(0);
            }
            _ => drive.flush().map_err(failed)?,
        }
        Ok(())
    }

    /// Reads the whole drive.
    pub fn compare(&mut self, drive: &Drive) -> Result<(), String> {
        let mut found = vec![0xEE; self.bytes.len()];
        drive.read(&mut found, 0).map_err(|error| error.to_string())?;
        match found.iter().zip(&self.bytes).position(|(found, due)| found != due) {
            Some(at) => Err(format!("byte {at} of all: {}, not {}", found[at], self.bytes[at])),
            None => Ok(()),
        }
    }
}

/// Random requests, and then the whole drive.
pub fn agree(drive: &Drive, seed: u64, requests: u32) -> Result<(), String> {
    let (mut model, mut choices) = (Model::of(drive), Choices::new(seed));
    for at in 0..requests {
        model
            .request(drive, &mut choices)
            .map_err(|why| format!("seed {seed}, request {at}: {why}"))?;
    }
    model.compare(drive)
}
