//! The factors of the matrix, each with its choices.

use super::covering::Factor;

/// The slots of the scheme.
pub const SLOTS: &[Factor] = &[
    (
        MARKS,
        &[
            "soft=\"2 blocks\"",
            "soft=\"4 blocks\" stop=\"5 blocks\"",
            "soft=\"4 blocks\" hard=\"3 blocks\"",
            "soft=\"4 blocks\" hard=\"none\"",
            "soft=\"50 pages\"",
            "soft=\"50 pages\" hard=\"49 pages\" stop=\"54 pages\"",
            "soft=\"25%\"",
            "soft=\"25%\" hard=\"3 blocks\" stop=\"40%\"",
            "soft=\"50% of spare\"",
            "soft=\"40% of spare\" stop=\"60% of spare\"",
        ],
    ),
    (
        ERASE,
        &[
            "use=\"block\"",
            "use=\"blocks\" blocks.k=\"2\"",
            "use=\"blocks\" blocks.k=\"3\"",
            "use=\"blocks\" blocks.k=\"3\" blocks.move_cap=\"1 block\"",
            "use=\"sub-blocks\"",
            "use=\"sub-blocks\" sub-blocks.isolation=\"hardware\"",
        ],
    ),
    ("gc.trigger.watermark.compare", &["\"<\"", "\"<=\""]),
    ("gc.trigger.watermark.batch", &["\"one\"", "\"until-stop\"", "\"list\""]),
    (
        VICTIM,
        &[
            "\"greedy\"",
            "\"fifo\"",
            "\"random\"",
            "\"d-choices\"",
            "\"cost-benefit\"",
            "\"wear-aware\"",
            "\"recycle-benefit\"",
            "\"invalid-sub-blocks\"",
            "\"invalidation-rate\"",
            "\"second-chance\"",
            "\"windowed-greedy\"",
            "\"cost-age-times\"",
            "\"static-levelling\"",
        ],
    ),
    ("gc.victim.recycle-benefit.index", &["\"kept\"", "\"scan\""]),
    ("gc.victim.invalidation-rate.now", &["false", "true"]),
    (
        TRIGGER,
        &[
            "\"watermark\"",
            "[\"watermark\",\"idle\"]",
            "\"used-space\"",
            "[\"used-space\",\"idle\"]",
        ],
    ),
    (
        USED_SPACE,
        &[
            "of=\"device\" batch=\"one\"",
            "of=\"device\" batch=\"until-stop\" on=\"50%\" victims=\"40%\"",
            "of=\"device\" batch=\"list\" on=\"60%\" victims=\"50%\"",
            "of=\"plane\" batch=\"one\" on=\"80%\" victims=\"100%\"",
            "of=\"plane\" batch=\"list\" on=\"45%\" victims=\"25%\"",
        ],
    ),
    ("gc.trigger.idle.wait", &["\"mean-collection\"", "\"100 us\""]),
    ("gc.trigger.watermark.idle_units", &["true", "false"]),
    ("gc.victim.greedy.index", &["\"buckets\"", "\"scan\""]),
    ("gc.victim.greedy.ties", &["\"lowest\"", "\"highest\""]),
    (
        COPY,
        &[
            "use=\"copyback\"",
            "use=\"copyback\" copyback.parity=\"true\"",
            "use=\"bus\"",
            "use=\"parallel\" parallel.workers=\"2\"",
            "use=\"parallel\" parallel.workers=\"3\" parallel.parity=\"false\"",
            "use=\"parallel\" parallel.parity=\"false\" parallel.list=\"extent\"",
            "use=\"parallel\" parallel.workers=\"1\" parallel.path=\"global\"",
            "use=\"parallel\" parallel.path=\"global\" parallel.list=\"extent\"",
        ],
    ),
    (
        PLACEMENT,
        &[
            "use=\"one-frontier\"",
            "use=\"separate-gc\"",
            "use=\"hotness-groups\" hotness-groups.groups=\"2\"",
            "use=\"hotness-groups\" hotness-groups.groups=\"2\" hotness-groups.hot_to=\"top\" \
             hotness-groups.copies=\"cold\" hotness-groups.cold=\"next\"",
        ],
    ),
    (BLOCKING, &["\"unit\"", "\"channel\"", "\"chip\"", "\"die\"", "\"plane\"", BLOCKS]),
    (
        BACKGROUND,
        &[
            "use=\"nothing\"",
            "use=\"flush-buffer\"",
            "use=\"pre-migration\" pre-migration.distance=\"30 pages\"",
            "use=\"['flush-buffer','pre-migration']\" pre-migration.distance=\"2 blocks\" \
             pre-migration.rule=\"moved\" pre-migration.t_page=\"60%\"",
            "use=\"pre-migration\" pre-migration.distance=\"30 pages\" \
             pre-migration.when=\"unit-idle\"",
            "use=\"read-reclaim\" read-reclaim.limit=\"30\"",
            "use=\"['pre-migration','read-reclaim']\" pre-migration.distance=\"30 pages\" \
             read-reclaim.limit=\"30\" read-reclaim.when=\"unit-idle\"",
        ],
    ),
    (
        PACING,
        &[
            "use=\"at-once\"",
            "use=\"time-slices\"",
            "use=\"time-slices\" time-slices.per_gap=\"3\" time-slices.length=\"400 us\"",
            "use=\"time-slices\" time-slices.extra_space=\"20%\" time-slices.floor=\"6 blocks\"",
            "use=\"tokens\"",
            "use=\"tokens\" tokens.urgency_max=\"4\"",
        ],
    ),
    (
        PREEMPTION,
        &[
            "use=\"never\"",
            "use=\"between-copies\"",
            "use=\"between-copies\" between-copies.merge=\"true\"",
            "use=\"between-copies\" between-copies.pipeline=\"true\"",
            "use=\"between-copies\" between-copies.merge=\"true\" between-copies.poll=\"600 ns\"",
            "use=\"suspend\"",
            "use=\"suspend\" suspend.of=\"erase\" suspend.merge=\"true\" suspend.pipeline=\"true\"",
            "use=\"suspend\" suspend.merge=\"true\" suspend.worth_it=\"true\"",
            "use=\"suspend\" suspend.pipeline=\"true\" suspend.max_suspends=\"1\"",
        ],
    ),
];

/// Thresholds that fit each other; `bad_config.rs` pins the messages of the plan on others.
pub const MARKS: &str = "gc.trigger.watermark";
pub const TRIGGER: &str = "gc.trigger.use";
pub const USED_SPACE: &str = "gc.trigger.used-space";
pub const ERASE: &str = "gc.erase";
pub const VICTIM: &str = "gc.victim.use";
pub const PLACEMENT: &str = "gc.placement";
pub const COPY: &str = "gc.copy";
pub const DEVICE: &str = "device";
pub const BLOCK: &str = "device.pages_per_block";
pub const LINK: &str = "device.host_link";
pub const BLOCKING: &str = "gc.blocking.use";
pub const BLOCKS: &str = "\"blocks\"";
pub const PREEMPTION: &str = "gc.preemption";
pub const SUSPEND: &str = "device.suspend";
pub const COMMAND: &str = "device.timing.command";
pub const RATIO: &str = "device.timing.layer_ratio";
pub const SUMMARY: &str = "device.summary";
pub const BUFFER: &str = "device.write_buffer";
pub const BACKGROUND: &str = "gc.background";
pub const PACING: &str = "gc.pacing";

/// The device and the workload that the scheme meets.
pub const AROUND: &[Factor] = &[
    (
        DEVICE,
        &[
            "unit=\"plane\"",
            "unit=\"die\"",
            "unit=\"die\" multi_plane=\"2\"",
            "unit=\"chip\"",
            "unit=\"chip\" multi_plane=\"2\"",
            "unit=\"channel\"",
            "unit=\"channel\" multi_plane=\"2\"",
        ],
    ),
    ("device.allocation", &["\"striped\"", "\"dynamic\""]),
    ("device.pool", &["\"device\"", "\"channel\"", "\"chip\"", "\"die\""]),
    (
        "device.service",
        &[
            "[\"gc\",\"host\"]",
            "[\"host\",\"gc\"]",
            "[\"gc\",\"reads\",\"writes\"]",
            "[\"gc\",\"writes\",\"reads\"]",
            "[\"reads\",\"gc\",\"writes\"]",
            "[\"reads\",\"writes\",\"gc\"]",
        ],
    ),
    (
        "device.order",
        &["[\"channel\",\"chip\",\"die\",\"plane\"]", "[\"plane\",\"die\",\"chip\",\"channel\"]"],
    ),
    ("device.blocks_per_plane", &["16", "24", "32"]),
    (
        BLOCK,
        &[
            "pages_per_block=\"7\" layers=\"7\"",
            "pages_per_block=\"8\" sub_blocks=\"2\" layers=\"8\"",
            "pages_per_block=\"16\" sub_blocks=\"4\" layers=\"16\"",
            "pages_per_block=\"16\" sub_blocks=\"8\" layers=\"16\"",
        ],
    ),
    (
        LINK,
        &[
            "",
            "{transfer=\"0.5 ns/B\"}",
            "{transfer=\"30 ns/B\"}",
            "{transfer=\"30 ns/B\",duplex=\"full\"}",
        ],
    ),
    (SUMMARY, &["", "{pages=1,transfer=\"528 B\",copies=\"free\"}", "{pages=1,copies=\"timed\"}"]),
    (BUFFER, &["", "{size=\"4 KiB\",access=\"90 us\"}", "{size=\"64 KiB\"}"]),
    ("device.timing.transfer", &["\"0 ns/B\"", "\"5 ns/B\"", "\"100 ns/B\""]),
    (
        SUSPEND,
        &[
            "",
            "{suspend=\"20 us\"}",
            "{suspend=\"5 us\",resume=\"3 us\",host_programs=true}",
            "{suspend=\"0 ns\"}",
        ],
    ),
    (COMMAND, &["\"0 ns\"", "\"200 ns\""]),
    (RATIO, &["", "2", "7.5"]),
    ("gc.blocking.channel.erasing", &["\"channel\"", "\"chip\"", "\"plane\""]),
    ("gc.blocking.channel.collections", &["\"any\"", "\"one\""]),
    ("gc.blocking.chip.erasing", &["\"chip\"", "\"die\""]),
    ("device.timing.layer_map", &["\"in-order\"", "\"striped\""]),
    ("engine.coalesce", &["true", "false"]),
    ("precondition.fill", &["\"sequential\"", "\"none\""]),
    (
        "workload.synthetic.size",
        &["\"4 KiB\"", "\"512 B\"", "{\"1 KiB\"=0.4,\"10 KiB\"=0.3,\"40 KiB\"=0.3}"],
    ),
    ("workload.synthetic.trim_share", &["0.0", "0.2"]),
    ("workload.synthetic.read_share", &["0.0", "0.4", "0.8"]),
    ("workload.synthetic.address", &["\"uniform\"", "{zipf=1.1}", "{hot_cold={f=0.1,r=0.9}}"]),
    (
        ARRIVALS,
        &[
            "queue_depth=1",
            "queue_depth=40",
            "interarrival={exponential=\"300 us\"}",
            "interarrival={fixed=\"25 us\"}",
            "interarrival={uniform=\"500 us\"}",
            "interarrival={bursty={mean=\"400 us\",below=\"40 us\",share=0.8}}",
        ],
    ),
];

pub const ARRIVALS: &str = "workload.synthetic";

/// All of them.
pub fn factors() -> Vec<Factor> {
    [SLOTS, AROUND].concat()
}
