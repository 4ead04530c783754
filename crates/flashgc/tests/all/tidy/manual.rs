//! Documents that agree with the program.

use super::{files, none, read, root};
use flashgc::config::presets;
use flashgc::session::{Inputs, prepare};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn presets_say_what_they_are_and_have_their_pages() {
    let mut complaints = Vec::new();
    let lists = [
        ("schemes", presets::schemes_json()["schemes"].clone()),
        ("devices", presets::devices_json()),
    ];
    for (kind, list) in lists {
        let shipped: BTreeSet<String> = list
            .as_array()
            .expect("a list")
            .iter()
            .map(|p| p["name"].as_str().unwrap().into())
            .collect();
        for path in files(&root().join(kind), "toml") {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if !shipped.contains(&name) {
                complaints.push(format!("{kind}/{name}.toml is not in the list of presets"));
            }
        }
        for preset in list.as_array().expect("a list") {
            let name = preset["name"].as_str().expect("a name");
            for key in ["title", "source"] {
                let text = preset["keys"]["about"][key].as_str().unwrap_or("");
                if text.is_empty() {
                    complaints.push(format!("{kind}/{name}.toml has no about.{key}"));
                }
            }
            let page = root().join(format!("docs/{kind}/{name}.md"));
            if !page.exists() {
                complaints.push(format!("docs/{kind}/{name}.md is missing"));
            }
            let index = read(&root().join(format!("docs/{kind}/README.md")));
            if !index.contains(&format!("]({name}.md)")) {
                complaints.push(format!("docs/{kind}/README.md does not link to {name}.md"));
            }
        }
    }
    none(&complaints);
}

#[test]
fn scheme_pages_have_the_same_headings() {
    let headings = [
        "## What it does",
        "## Where it comes from",
        "## Parameters",
        "## What to watch",
        "## Example",
    ];
    for name in presets::scheme_names() {
        let text = read(&root().join(format!("docs/schemes/{name}.md")));
        let found: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(found, headings, "docs/schemes/{name}.md");
    }
}

/// The manual's list of slots and choices equals the program's.
#[test]
fn every_choice_of_every_slot_is_in_the_manual() {
    let schemes = read(&root().join("docs/schemes/README.md"));
    let keys = documented();
    let mut complaints = Vec::new();
    for slot in presets::schemes_json()["slots"].as_array().expect("a list") {
        let slot_name = slot["name"].as_str().expect("a name");
        let row = schemes.lines().find(|line| line.starts_with(&format!("| {slot_name} |")));
        for choice in slot["choices"].as_array().expect("a list") {
            let name = choice["name"].as_str().expect("a name");
            if !row.is_some_and(|row| row.contains(&format!("`{name}`"))) {
                complaints.push(format!("docs/schemes/README.md: slot {slot_name} lacks {name}"));
            }
            let range = &keys[&format!("gc.{slot_name}.use")].range;
            if !range.contains(&format!("`\"{name}\"`")) {
                complaints.push(format!("docs/configuration.md: gc.{slot_name}.use lacks {name}"));
            }
        }
    }
    none(&complaints);
}

/// A row of the tables in docs/configuration.md.
struct Documented {
    default: String,
    range: String,
}

fn documented() -> BTreeMap<String, Documented> {
    let text = read(&root().join("docs/configuration.md"));
    let mut keys = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [key, default, range, _] = cells[..] else { panic!("not four cells: {line}") };
        let row = Documented { default: default.into(), range: range.into() };
        let key = key.trim_matches('`').to_string();
        assert!(keys.insert(key, row).is_none(), "{line} is there twice");
    }
    keys
}

const SYNTHETIC: &str = "workload.synthetic.requests=10";
const CLOSED: &str = "workload.synthetic.queue_depth=1";
const FITTED: [&str; 4] = [
    "workload.fitted.requests=10",
    "workload.fitted.regions=[{pages=9}]",
    "workload.fitted.bursts=[{read_share=1.0}]",
    "workload.fitted.course=[{bursts={1=1}}]",
];
const JOBS: [&str; 2] =
    ["workload.jobs.job=[{span=\"1 MiB\"}]", "workload.jobs.trace.on_bad_line=\"stop\""];
const SPRANDOM: &str = "precondition.fill=\"sprandom\"";
const TRACE: &str = "workload.trace.format=\"auto\"";
/// Reads with errors.
const FAILURES: &str = "device.failures.at=[{block=0}]";
const RETRY: [&str; 2] = ["device.read_retry.cycles=1500", "device.read_retry.retention_days=90"];

const ZIPF: &str =
    "workload.synthetic.address={ zipf = 1.0, shuffle = { share = 0.2, every = 1.0 } }";
const GROUPS: &str = "workload.synthetic.address.groups=[{places=0.2, requests=0.8}]";
const SUSPEND: &str = "device.suspend.suspend=\"20 us\"";
const SUB_BLOCKS: [&str; 3] =
    ["device.sub_blocks=4", "gc.erase.use=\"sub-blocks\"", "gc.victim.use=\"recycle-benefit\""];

fn outcome(sets: &[String]) -> Result<String, Vec<(String, String)>> {
    let text = "device.preset = \"slc-msr\"\n".to_string();
    let inputs = Inputs { name: "test".into(), text, sets: sets.to_vec(), ..Inputs::default() };
    match prepare(&inputs) {
        Ok(setup) => Ok(setup.config_hash()),
        Err(errors) => Err(errors
            .iter()
            .map(|error| (error.message.clone(), error.help.clone().unwrap_or_default()))
            .collect()),
    }
}

/// A word far from any key, so that the message about it lists all keys of its table.
const STRANGE: &str = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq";

/// The keys that the readers request in a table, as the message about an unknown key lists them.
fn keys_read(table: &str, sets: &[&str]) -> Vec<String> {
    let mut sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let strange = if table.is_empty() { STRANGE.into() } else { format!("{table}.{STRANGE}") };
    sets.push(format!("{strange}=1"));
    let errors = outcome(&sets).expect_err("the strange key is refused");
    let help = errors
        .iter()
        .find(|(message, _)| message.contains(STRANGE) && message.starts_with("unknown key"))
        .unwrap_or_else(|| panic!("nobody reads [{table}]: {errors:?}"));
    let Some(list) = help.1.strip_prefix("valid keys: ") else { return Vec::new() };
    let join = |key: &str| match table {
        "" => key.to_string(),
        _ => format!("{table}.{key}"),
    };
    list.split(", ").map(|key| join(key.trim_matches('`'))).collect()
}

/// The keys that the readers request in the tables of a list.
fn keys_in_list(list: &str, sets: &[&str]) -> Vec<String> {
    let strange = format!("{list}=[{{{STRANGE}=1}}]");
    let sets: Vec<String> = sets.iter().copied().chain([&*strange]).map(String::from).collect();
    let errors = outcome(&sets).expect_err("the strange key is refused");
    let unknown = errors.iter().find(|(message, _)| message.contains(STRANGE));
    let help = &unknown.unwrap_or_else(|| panic!("nobody reads {list}: {errors:?}")).1;
    let keys = help.strip_prefix("valid keys: ").expect("a list of keys");
    keys.split(", ").map(|key| format!("{list}.{}", key.trim_matches('`'))).collect()
}

/// All keys that any reader requests.
fn all_requested() -> BTreeSet<String> {
    let synthetic = [SYNTHETIC, CLOSED];
    let mut keys = BTreeSet::new();
    for table in [
        "",
        "device",
        "device.timing",
        "gc",
        "workload",
        "workload.synthetic",
        "precondition",
        "engine",
    ] {
        keys.extend(keys_read(table, &synthetic));
    }
    keys.extend(keys_read("device.summary", &[SYNTHETIC, CLOSED, "device.summary.pages=1"]));
    let link = "device.host_link.transfer=\"1 ns/B\"";
    keys.extend(keys_read("device.host_link", &[SYNTHETIC, CLOSED, link]));
    let firmware = "device.firmware.command=\"1 us\"";
    keys.extend(keys_read("device.firmware", &[SYNTHETIC, CLOSED, firmware]));
    for (stage, set) in [("firmware", firmware), ("host_link", link)] {
        for of in ["", ".normal", ".lognormal"] {
            keys.extend(keys_read(
                &format!("device.{stage}.jitter{of}"),
                &[SYNTHETIC, CLOSED, set],
            ));
        }
    }
    keys.extend([keys_of_read_retry(), keys_of_zipf(), keys_of_jobs()].concat());
    let buffer = "device.write_buffer.size=\"1 MiB\"";
    keys.extend(keys_read("device.write_buffer", &[SYNTHETIC, CLOSED, buffer]));
    keys.extend(keys_read("device.suspend", &[SYNTHETIC, CLOSED, SUSPEND]));
    let reserved = "device.exported.reserved_blocks=\"15%\"";
    keys.extend(keys_read("device.exported", &[SYNTHETIC, CLOSED, reserved]));
    keys.extend(keys_read("precondition.sprandom", &[SYNTHETIC, CLOSED, SPRANDOM]));
    keys.extend(keys_read("workload.trace", &[TRACE]));
    let open =
        ["workload.synthetic.requests=10", "workload.synthetic.size={ exponential = \"8 KiB\" }"];
    for table in [
        "workload.synthetic.size",
        "workload.synthetic.address",
        "workload.synthetic.address.hot_cold",
        "workload.synthetic.address.normal",
        "workload.synthetic.hints",
        "workload.synthetic.interarrival",
        "workload.synthetic.interarrival.bursty",
        "workload.synthetic.interarrival.hyperexponential",
    ] {
        keys.extend(keys_read(table, &open));
    }
    for list in ["workload.synthetic.address.groups", "workload.synthetic.phases"] {
        keys.extend(keys_in_list(list, &open));
    }
    keys.extend(keys_read("workload.fitted", &["workload.fitted.requests=10"]));
    for list in ["places", "regions", "bursts", "course"] {
        let list = format!("workload.fitted.{list}");
        keys.extend(keys_in_list(&list, &["workload.fitted.requests=10"]));
    }
    keys.extend(keys_of_slots(&synthetic));
    keys
}

/// The keys of slots and of their choices, which the list of schemes names too.
fn keys_of_slots(synthetic: &[&str]) -> Vec<String> {
    let mut keys = Vec::new();
    for slot in presets::schemes_json()["slots"].as_array().expect("a list") {
        let slot_name = slot["name"].as_str().expect("a name");
        keys.extend(keys_read(&format!("gc.{slot_name}"), synthetic));
        for choice in slot["choices"].as_array().expect("a list") {
            let name = choice["name"].as_str().expect("a name");
            let table = format!("gc.{slot_name}.{name}");
            let uses = format!("gc.{slot_name}.use=\"{name}\"");
            let read = keys_read(&table, &[SYNTHETIC, CLOSED, &uses]);
            let reported: Vec<String> = choice["keys"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|key| format!("{table}.{}", key[0].as_str().expect("a key")))
                .collect();
            assert_eq!(BTreeSet::from_iter(&read), BTreeSet::from_iter(&reported), "{table}");
            keys.extend(read);
        }
    }
    keys
}

fn keys_of_zipf() -> Vec<String> {
    let tables = ["workload.synthetic.address", "workload.synthetic.address.shuffle"].iter();
    let of_groups = keys_read("workload.synthetic.address", &[SYNTHETIC, GROUPS]);
    let zipf = |table: &&str| keys_read(table, &["workload.synthetic.requests=10", ZIPF]);
    tables.flat_map(zipf).chain(of_groups).collect()
}

fn keys_of_failures() -> Vec<String> {
    let sets = [SYNTHETIC, CLOSED, FAILURES];
    let mut keys = keys_read("device.failures", &sets);
    keys.extend(keys_in_list("device.failures.at", &sets));
    keys
}

fn keys_of_read_retry() -> Vec<String> {
    let mut keys = keys_of_failures();
    let sets = [&[SYNTHETIC, CLOSED], &RETRY[..]].concat();
    let tables = ["device.read_retry", "device.read_retry.rber"].iter();
    keys.extend(tables.flat_map(|table| keys_read(table, &sets)));
    keys.extend(keys_in_list("device.read_retry.uncorrectable", &sets));
    keys
}

fn keys_of_jobs() -> Vec<String> {
    let tables = ["workload.jobs", "workload.jobs.trace"].iter();
    let mut keys: Vec<String> = tables.flat_map(|table| keys_read(table, &JOBS[..1])).collect();
    keys.extend(keys_in_list("workload.jobs.job", &[]));
    keys.extend(keys_in_list("workload.tenants", &[]));
    keys
}

#[test]
fn the_manual_has_the_keys_that_the_program_reads() {
    let (requested, documented) = (all_requested(), documented());
    let mut complaints = Vec::new();
    for key in documented.keys().filter(|key| !requested.contains(*key)) {
        complaints.push(format!("docs/configuration.md has {key}, which nobody reads"));
    }
    let choices = presets::schemes_json();
    let is_choice = |key: &str| {
        choices["slots"].as_array().expect("a list").iter().any(|slot| {
            let slot_name = slot["name"].as_str().unwrap_or("");
            let names = slot["choices"].as_array().expect("a list").iter();
            names
                .into_iter()
                .any(|c| key == format!("gc.{slot_name}.{}", c["name"].as_str().unwrap_or("")))
        })
    };
    for key in requested.iter().filter(|key| !documented.contains_key(*key) && !is_choice(key)) {
        // A table has its keys in place of its own.
        let below = format!("{key}.");
        if !documented.keys().any(|documented| documented.starts_with(&below)) {
            complaints.push(format!("docs/configuration.md lacks {key}"));
        }
    }
    none(&complaints);
}

/// Where the manual names a value as default, giving it changes nothing.
#[test]
fn defaults_are_as_the_manual_says() {
    let mut complaints = Vec::new();
    let mut tried = 0;
    for (key, row) in documented() {
        let Some(value) = row.default.strip_prefix('`').and_then(|d| d.strip_suffix('`')) else {
            continue;
        };
        let mut sets: Vec<String> = match key.split('.').nth(1) {
            Some("trace") => vec![TRACE.into()],
            Some("jobs") => JOBS.map(String::from).to_vec(),
            Some("read_retry") => {
                [&[SYNTHETIC, CLOSED], &RETRY[..]].concat().into_iter().map(String::from).collect()
            }
            Some("failures") => [SYNTHETIC, CLOSED, FAILURES].map(String::from).to_vec(),
            Some("sprandom") => [SYNTHETIC, CLOSED, SPRANDOM].map(String::from).to_vec(),
            Some("fitted") => FITTED.map(String::from).to_vec(),
            Some("suspend" | "preemption") => vec![SYNTHETIC.into(), CLOSED.into(), SUSPEND.into()],
            Some("host_link") => {
                vec![SYNTHETIC.into(), CLOSED.into(), "device.host_link.transfer=\"1 ns/B\"".into()]
            }
            Some("write_buffer") => {
                vec![SYNTHETIC.into(), CLOSED.into(), "device.write_buffer.size=\"1 MiB\"".into()]
            }
            Some("summary") => {
                vec![SYNTHETIC.into(), CLOSED.into(), "device.summary.pages=1".into()]
            }
            _ => vec![SYNTHETIC.into(), CLOSED.into()],
        };
        if let [gc, slot, choice, _] = key.split('.').collect::<Vec<_>>()[..]
            && gc == "gc"
        {
            if ["sub-blocks", "hotness-groups"].contains(&choice) {
                sets.extend(SUB_BLOCKS.map(String::from));
            }
            if slot == "placement" && choice != "hotness-groups" {
                // Copies to each class have a reserve.
                sets.push("gc.trigger.watermark.soft=\"13 blocks\"".into());
            }
            sets.push(match choice {
                // It needs another trigger.
                "idle" => "gc.trigger.use=[\"watermark\",\"idle\"]".into(),
                _ => format!("gc.{slot}.use=\"{choice}\""),
            });
        }
        if key.starts_with("workload.synthetic.address.") {
            sets.push("workload.synthetic.address.zipf=0.9".into());
        }
        let without = outcome(&sets).unwrap_or_else(|errors| panic!("{key}: {errors:?}"));
        sets.push(format!("{key}={value}"));
        tried += 1;
        match outcome(&sets) {
            Ok(with) if with == without => {}
            Ok(_) => complaints.push(format!("{key}: {value} is not the default")),
            Err(errors) => complaints.push(format!("{key} = {value}: {errors:?}")),
        }
    }
    assert!(tried > 15, "only {tried} defaults were tried");
    none(&complaints);
}

/// The report has the keys that docs/definitions.md defines, and no other at its top.
#[test]
fn the_manual_defines_every_key_of_the_report() {
    let hotness = ["gc.placement.use=\"hotness-groups\"", "gc.placement.hotness-groups.groups=2"];
    let sub_blocks = [&SUB_BLOCKS[..], &hotness, &["device.exported=0.6"]].concat();
    let mut complaints = Vec::new();
    let used_space = ["gc.scheme=\"on-demand\"", "gc.trigger.use=[\"used-space\",\"idle\"]"];
    let duplex = ["device.host_link.duplex=\"full\""];
    let idle = ["gc.scheme=\"idle-pgc\"", "device.failures.erase=1e-9"];
    for sets in [&idle[..], &used_space, &sub_blocks, &duplex] {
        complaints.extend(undefined_keys(sets));
    }
    none(&complaints);
}

/// The keys of the report of a run that docs/definitions.md lacks.
fn undefined_keys(sets: &[&str]) -> Vec<String> {
    use flashgc::session::{Options, Phase, Session};
    let text = read(&root().join("docs/definitions.md"));
    let around = [
        "device.blocks_per_plane=40",
        "device.host_link.transfer=\"1 ns/B\"",
        "device.firmware.command=\"1 us\"",
        "device.read_retry.cycles=0",
        "device.read_retry.retention_days=0",
        "device.write_buffer.size=\"1 MiB\"",
        SYNTHETIC,
        CLOSED,
    ];
    let inputs = Inputs {
        name: "test".into(),
        text: "device.preset = \"slc-msr\"\n".into(),
        sets: around.iter().chain(sets).map(|set| set.to_string()).collect(),
        ..Inputs::default()
    };
    let setup = prepare(&inputs).expect("the configuration is right");
    let mut session = Session::new(setup, None, Options::default());
    while session.advance().expect("the run goes on").phase != Phase::Done {}
    let report = session.report().to_json();
    let mut complaints = Vec::new();
    for (key, value) in report.as_object().expect("an object") {
        let inner = value.as_object().filter(|_| key != "config");
        let inner = inner.map(|map| map.keys().collect::<Vec<_>>()).unwrap_or_default();
        if !text.contains(&format!("`{key}")) {
            complaints.push(format!("docs/definitions.md lacks {key}"));
        }
        for inner in inner {
            let names = [format!("`{key}.{inner}`"), format!("`.{inner}`"), format!("`{inner}`")];
            if !names.iter().any(|name| text.contains(name)) {
                complaints.push(format!("docs/definitions.md lacks {key}.{inner}"));
            }
        }
    }
    complaints
}

/// The reading order of ARCHITECTURE.md can be read in one go.
#[test]
fn the_reading_order_is_short_and_its_files_exist() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let order = text.split("## Reading order").nth(1).and_then(|rest| rest.split("\n## ").next());
    let paths = order.expect("a section").split('`').filter(|part| part.ends_with(".rs"));
    let paths: Vec<&str> = paths.filter(|path| path.starts_with("crates/")).collect();
    assert!(paths.len() >= 9, "{paths:?}");
    let lines: usize = paths.iter().map(|path| read(&root().join(path)).lines().count()).sum();
    assert!(lines <= 2_500, "{lines} lines, more than 2,500");
}

/// Paths in code marks of ARCHITECTURE.md lead to files.
#[test]
fn architecture_names_files_that_exist() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let mut missing = Vec::new();
    for path in text.split('`').skip(1).step_by(2).filter(|path| path.ends_with(".rs")) {
        let places = [
            "",
            "crates/flashgc/",
            "crates/flashgc/src/",
            "crates/flashgc-model/src/",
            "crates/flashgc-watch/src/",
        ];
        if path.contains('/') && !places.iter().any(|place| root().join(place).join(path).exists())
        {
            missing.push(format!("ARCHITECTURE.md: {path} does not exist"));
        }
    }
    none(&missing);
}
