//! Calls of the module, as a page makes them.

use flashgc_wasm::answer;
use serde_json::{Value, json};

const SMALL: &str = r#"
[device]
preset = "slc-msr"
channels = 2
planes_per_die = 2
blocks_per_plane = 32
over_provisioning = "40%"

[workload.synthetic]
requests = 500
read_share = 0.5
queue_depth = 4

[precondition]
overwrite = 1.0
"#;

fn call(call: Value) -> Result<Value, String> {
    answered(answer(call.to_string().as_bytes(), Vec::new()))
}

fn answered(answer: String) -> Result<Value, String> {
    let mut answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
    match answer["error"].as_str() {
        Some(error) => Err(error.to_string()),
        None => Ok(answer["ok"].take()),
    }
}

fn configuration(text: &str, scheme: &str) -> Value {
    json!({ "name": "small.toml", "text": text, "scheme": scheme })
}

fn finished(scheme: &str) -> Value {
    let configuration = configuration(SMALL, scheme);
    let run = call(json!({ "call": "open", "configuration": configuration })).expect("it opens");
    let advance = json!({ "call": "advance", "run": run, "events": 1000 });
    while call(advance.clone()).expect("it runs")["phase"] != "done" {}
    let report = call(json!({ "call": "report", "run": run })).expect("a report");
    let picture = call(json!({ "call": "picture", "run": run })).expect("a picture");
    assert_eq!(picture["blocks"].as_array().map(Vec::len), Some(4 * 32));
    assert_eq!(call(json!({ "call": "close", "run": run })), Ok(json!(true)));
    assert_eq!(call(json!({ "call": "close", "run": run })), Ok(json!(false)));
    report
}

#[test]
fn runs_are_repeatable_and_keep_their_slowest_reads() {
    let [one, again, other] = ["greedy", "greedy", "pgc"].map(finished);
    assert_eq!(one, again);
    assert_ne!(one["report"]["result_hash"], other["report"]["result_hash"]);
    let slowest = one["slowest_reads"].as_array().expect("a list");
    let latencies: Vec<u64> = slowest.iter().filter_map(|one| one["latency_ns"].as_u64()).collect();
    assert_eq!(latencies.len(), 12);
    assert!(latencies.is_sorted_by(|one, other| one >= other));
    assert_eq!(json!(latencies[0]), one["report"]["latency_ns"]["read"]["max"]);
    for read in slowest {
        let parts = read["parts"].as_object().expect("parts").values().filter_map(Value::as_u64);
        assert_eq!(json!(parts.sum::<u64>()), read["latency_ns"]);
    }
}

#[test]
fn mistakes_are_answered() {
    let garbled = answered(answer(b"advance", Vec::new())).expect_err("no call");
    assert!(garbled.starts_with("error: the call cannot be read"), "{garbled}");
    let unknown = call(json!({ "call": "report", "run": 77 })).expect_err("no run");
    assert!(unknown.contains("no run has the number 77"), "{unknown}");
    let wrong = configuration("[device]\npreset = \"slc-msr\"\nchanels = 2\n", "greedy");
    let wrong = call(json!({ "call": "check", "configuration": wrong })).expect_err("refused");
    assert!(wrong.contains("unknown key `chanels`"), "{wrong}");
}

#[test]
fn drives_beyond_the_memory_of_a_page_are_refused_by_name() {
    let large = SMALL.replace("blocks_per_plane = 32", "blocks_per_plane = 1_048_576");
    let large = large.replace("channels = 2", "channels = 8");
    let open = json!({ "call": "open", "configuration": configuration(&large, "greedy") });
    let refused = call(open).expect_err("too large");
    assert!(refused.contains("the tables of the drive \"slc-msr\" need 7.8 GiB"), "{refused}");
    assert!(refused.contains("device.blocks_per_plane"), "{refused}");
}
