"use strict";

/** Small drives: the counts that replace those of each preset, its planes, and a load that it bears. */
const DEVICES = {
  "enterprise-tlc": { title: "Enterprise TLC", counts: { channels: 4, chips_per_channel: 1, planes_per_die: 4, blocks_per_plane: 64, pages_per_block: 64 }, load: 8 },
  "client-tlc": { title: "Client TLC, programs of three pages", counts: { channels: 4, chips_per_channel: 1, planes_per_die: 4, blocks_per_plane: 64, pages_per_block: 48 }, load: 9 },
  "enterprise-qlc": { title: "Enterprise QLC, programs in two passes", counts: { channels: 4, chips_per_channel: 1, planes_per_die: 4, blocks_per_plane: 64, pages_per_block: 64 }, load: 6 },
  "slc-low-latency": { title: "Low-latency SLC", counts: { channels: 4, chips_per_channel: 4, planes_per_die: 1, blocks_per_plane: 64, pages_per_block: 64 }, load: 12 },
  "slc-msr": { title: "SLC, planes behind one queue", counts: { channels: 4, planes_per_die: 4, blocks_per_plane: 64 }, load: 8 },
};

/** Requests per second. */
const LOADS = [250, 350, 500, 700, 1000, 1400, 2000, 2800, 4000, 5600, 8000, 11000, 16000, 22000, 32000, 45000, 64000];
const REQUESTS = [10000, 30000, 100000, 300000, 1000000];
const TRACE = "trace";
const WORKLOADS = { random: "at random times", bursts: "in bursts", sequential: "mostly one after the other" };

/** What a configuration is made of; the address has the same names. */
const START = { a: "greedy", b: "fpgc", device: "enterprise-tlc", workload: "random", spare: 28, load: 8, skew: 9, reads: 70, requests: 30000, seed: 1 };

/** The least and the most of each number. */
const LIMITS = { spare: [10, 80], load: [0, LOADS.length - 1], skew: [0, 14], reads: [0, 95], requests: [1, 10_000_000], seed: [0, 4294967295] };

/**
 * The choices of an address, and what is wrong with it, by control. What it lacks, or has wrong, is as
 * at the start.
 */
function fromAddress(hash, schemes) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const found = { ...START };
  const faults = {};
  const take = (name, is_known, allowed, convert = String) => {
    const text = given.get(name);
    if (text === null) return;
    if (is_known(text)) found[name] = convert(text);
    else faults[name] = `The address has ${name}=${text}. ${allowed}; the page uses ${found[name]}.`;
  };
  const one = (name, names) => take(name, (text) => names.includes(text), "It must be one of the list");
  one("device", Object.keys(DEVICES));
  found.load = DEVICES[found.device].load;
  for (const name of ["a", "b"]) one(name, schemes);
  if (given.get("workload") === TRACE) faults.workload = "The address is that of a replayed trace, which it does not hold: choose the file.";
  else one("workload", Object.keys(WORKLOADS));
  for (const [name, [least, most]] of Object.entries(LIMITS)) {
    const fits = (text) => /^\d+$/.test(text) && +text >= least && +text <= most;
    take(name, fits, `It must be a whole number from ${count(least)} to ${count(most)}`, Number);
  }
  return { choices: found, faults };
}

function toAddress(choices) {
  return `#${new URLSearchParams(choices)}`;
}

function gap(load) {
  const ns = Math.round(1e9 / LOADS[load]);
  return ns % 1000 ? `${ns} ns` : `${ns / 1000} us`;
}

function arrivals({ workload, load }) {
  if (workload !== "bursts") return `interarrival = { exponential = "${gap(load)}" }`;
  const below = Math.round(1e8 / LOADS[load]);
  return `interarrival = { bursty = { mean = "${gap(load)}", below = "${below} ns", share = 0.7 } }`;
}

/** The requests: drawn, or those of a trace, whose times the load divides. */
function requestLines(choices) {
  const { skew, reads, requests, workload, load } = choices;
  if (workload === TRACE) {
    const scale = LOADS[START.load] / LOADS[load];
    return ["[workload.trace]", 'address = "wrap"', `rows = ${requests}`, `time_scale = ${Number(scale.toPrecision(4))}`];
  }
  return [
    "[workload.synthetic]",
    `requests = ${requests}`,
    `read_share = ${reads / 100}`,
    `address = ${skew ? `{ zipf = ${skew / 10} }` : '"uniform"'}`,
    ...(workload === "sequential" ? ["sequential_share = 0.9"] : []),
    arrivals(choices),
  ];
}

/** The configuration as TOML. */
function toToml(choices) {
  const { device, spare, seed } = choices;
  const counts = Object.entries(DEVICES[device].counts).map(([key, value]) => `${key} = ${value}`);
  return [
    `seed = ${seed}`,
    "",
    "[device]",
    `preset = "${device}"`,
    `over_provisioning = "${spare}%"`,
    ...counts,
    'suspend = { suspend = "20 us" }',
    "",
    ...requestLines(choices),
    "",
    "[precondition]",
    'fill = "sequential"',
    "overwrite = 1.0",
    "",
  ].join("\n");
}

/** The command of the same run; a trace has its name. */
function sameCommand({ a, b, workload }, trace) {
  const replayed = workload === TRACE ? ` --trace ${quoted(trace.name)}` : "";
  return `flashgc compare playground.toml --schemes ${a === b ? a : `${a},${b}`} --blame${replayed}`;
}

function quoted(name) {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}

/** The same on the device as it is sold; `planes` are those of the small drive and of the whole one. */
function fullCommand(choices, planes, trace) {
  const rate = planes[1] / planes[0];
  const more = [
    `--set workload.synthetic.rate=${rate}`,
    '--set workload.synthetic.requests="1 drive writes"',
  ];
  return [
    sameCommand(choices, trace),
    `--device ${choices.device}`,
    `--set device.over_provisioning=${choices.spare}%`,
    '--set device.suspend.suspend="20 us"',
    ...(choices.workload === TRACE ? [] : more),
  ].join(" ");
}

/**
 * The configuration of one scheme, for the engine. Each copy is an event of its own, so that it is
 * seen; the results are the same.
 */
function configuration(choices, scheme, trace) {
  const sets = ["engine.coalesce=false"];
  const given = { name: "playground.toml", text: toToml(choices), scheme, sets };
  return choices.workload === TRACE ? { ...given, trace: trace.name, data: trace.data } : given;
}
