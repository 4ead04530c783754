"use strict";

/**
 * Two runs on one clock. At full speed the run that is behind goes on; in slow motion both go to the
 * same instant; at a pause nothing happens. Each frame says how far they are and shows their drives.
 */

const SLICE_MS = 30;
const SAMPLES = 160;

let engine = null;
let runs = [];
/** "prepare", "full", "slow", "pause" or "over". */
let mode = "over";
/** In slow motion: simulated ns for each ms, the instant to go to, and when that was set. */
let pace = { ns: 0, target: 0, since: 0 };
/** Where a run to an instant goes on to, and how. */
let until = null;
/** The number of a read that is shown; a run notes its end. */
let shown = null;
/** Events at a time until a read that is shown is done: an answer has only the last of those done. */
const FEW_EVENTS = 4;
/** The number of the present pair: messages of earlier ones are dropped. */
let pair = 0;
let is_awake = false;
/** Whether the page has drawn the last frame: while it has not, only a last one is sent. */
let is_drawn = true;

const channel = new MessageChannel();
channel.port1.onmessage = () => {
  is_awake = false;
  turn();
};

function wake() {
  if (is_awake) return;
  is_awake = true;
  channel.port2.postMessage(0);
}

function open(configurations) {
  for (const run of runs) engine.call({ call: "close", run: run.id });
  runs = [];
  for (const configuration of configurations) {
    const { data, ...given } = configuration;
    const id = engine.call({ call: "open", configuration: given }, data);
    runs.push({ id, phase: "start", now_ns: 0, done: 0, total: null, next_ns: null, samples: [], events: 2000 });
  }
  mode = "prepare";
}

function advance(run, events, until_ns) {
  Object.assign(run, engine.call({ call: "advance", run: run.id, events, until_ns }));
  if (run.completed) run.recent = run.last;
  if (isLooking(run)) run.shown = run.last.find(({ number }) => number === shown) ?? null;
}

/** Whether a read is shown that has not ended in this run; on the way to it none has. */
function isLooking(run) {
  return shown !== null && mode !== "prepare" && mode !== "seek" && !run.shown;
}

function unfinished() {
  return runs.filter((run) => run.phase !== "done");
}

/** Notes the pages that were written and programmed, some 160 times in a run. */
function sample(run) {
  const before = run.samples.at(-1);
  const is_due = !before || run.done - before[3] >= (run.total ?? 1e5) / SAMPLES || run.phase === "done";
  if (!is_due) return;
  const { report } = engine.call({ call: "report", run: run.id });
  const written = report.pages.host_written;
  run.samples.push([run.now_ns, written, (report.write_amplification ?? 0) * written, run.done]);
}

function prepare(ends) {
  while (performance.now() < ends) {
    const run = runs.find(({ phase }) => phase !== "run" && phase !== "done");
    if (!run) {
      mode = until === null ? "full" : "seek";
      postMessage({ kind: "ready", pair });
      return;
    }
    advance(run, 1);
  }
}

/** The run that is behind goes on, in slices that are as long as a few samples apart. */
function full(ends) {
  while (performance.now() < ends) {
    const left = unfinished();
    if (!left.length) {
      mode = "over";
      return;
    }
    const run = left.reduce((one, other) => (other.now_ns < one.now_ns ? other : one));
    const before = run.done;
    if (isLooking(run)) {
      advance(run, FEW_EVENTS);
      continue;
    }
    advance(run, run.events);
    const step = (run.total ?? 1e5) / SAMPLES / 2;
    const did = Math.max(1, run.done - before);
    run.events = Math.max(50, Math.min(50_000, Math.round((run.events * step) / did)));
    sample(run);
  }
}

/** Both go to an instant. Returns whether they are there. */
function go(to_ns, ends) {
  for (const run of unfinished()) {
    while (run.phase !== "done" && !(run.next_ns > to_ns)) {
      advance(run, isLooking(run) ? FEW_EVENTS : 5000, Math.floor(to_ns));
      sample(run);
      if (performance.now() > ends) return false;
    }
  }
  return unfinished().every((run) => run.next_ns === null || run.next_ns > to_ns);
}

function seek(ends) {
  if (go(until.at_ns, ends)) {
    pace = { ns: until.ns, target: until.at_ns, since: performance.now() };
    mode = "slow";
    until = null;
  }
}

function slow(now) {
  pace.target += (now - pace.since) * pace.ns;
  pace.since = now;
  go(pace.target, now + SLICE_MS);
  if (!unfinished().length) mode = "over";
}

/** The next event of either run. */
function step() {
  const next = unfinished().map((run) => run.next_ns ?? run.now_ns);
  if (!next.length) return;
  pace.target = Math.max(pace.target, Math.min(...next));
  go(pace.target, performance.now() + SLICE_MS);
}

/** The instant that both runs have reached. */
function present() {
  const left = unfinished();
  const latest = Math.max(0, ...runs.map((run) => run.now_ns));
  return left.length && mode !== "full" && mode !== "prepare" ? Math.max(pace.target, latest) : latest;
}

function frame() {
  const rests = mode === "pause" || mode === "over";
  if (!is_drawn && !rests) return;
  is_drawn = false;
  const drawn = mode === "prepare" || mode === "seek" ? [] : runs;
  postMessage({
    kind: "frame",
    pair,
    mode,
    now_ns: present(),
    runs: runs.map((run) => ({
      phase: run.phase,
      done: run.done,
      total: run.total,
      samples: run.samples,
      recent: run.recent ?? [],
      shown: run.shown ?? null,
      ...(drawn.includes(run) ? details(run) : {}),
    })),
  });
}

function details(run) {
  const { report, slowest_reads } = engine.call({ call: "report", run: run.id });
  if (report) delete report.config;
  return { report, slowest_reads, picture: engine.call({ call: "picture", run: run.id }) };
}

function turn() {
  guarded(() => {
    const now = performance.now();
    if (mode === "prepare") prepare(now + SLICE_MS);
    else if (mode === "full") full(now + SLICE_MS);
    else if (mode === "seek") seek(now + 4 * SLICE_MS);
    else if (mode === "slow") slow(now);
    frame();
    if (mode === "slow") setTimeout(wake, SLICE_MS);
    else if (mode !== "pause" && mode !== "over") wake();
  });
}

function guarded(what) {
  try {
    return what();
  } catch (wrong) {
    mode = "over";
    postMessage({ kind: "wrong", pair, text: wrong.message });
  }
}

/** Stops at the later of both clocks, where the other one is taken as well. */
function meet() {
  if (mode === "full") {
    pace.target = Math.max(...runs.map((run) => run.now_ns));
    while (!go(pace.target, Infinity));
  }
}

const TASKS = {
  drawn() {
    is_drawn = true;
  },
  async engine({ bytes }) {
    engine = await Engine.from(bytes);
    postMessage({ kind: "presets", ...engine.call({ call: "presets" }) });
  },
  start(task) {
    pair = task.pair;
    is_drawn = true;
    until = task.until ?? null;
    shown = until?.number ?? null;
    pace = { ns: 0, target: 0, since: 0 };
    open(task.configurations);
    wake();
  },
  pause() {
    if (mode === "over" || mode === "prepare" || mode === "seek") return;
    meet();
    mode = "pause";
    wake();
  },
  full() {
    if (mode === "slow" || mode === "pause") mode = "full";
    wake();
  },
  slow({ ns }) {
    if (mode === "over" || mode === "prepare" || mode === "seek") return;
    meet();
    pace = { ns, target: Math.max(pace.target, present()), since: performance.now() };
    mode = "slow";
    wake();
  },
  step() {
    if (mode === "over" || mode === "prepare" || mode === "seek") return;
    meet();
    mode = "pause";
    step();
    wake();
  },
  check({ configurations, ask }) {
    const answers = configurations.map((configuration) => {
      const { data, ...given } = configuration;
      try {
        return { ok: engine.call({ call: "check", configuration: given }) };
      } catch (wrong) {
        return { error: wrong.message };
      }
    });
    postMessage({ kind: "checked", ask, answers });
  },
  /** A whole run, for those who compare it with one of the command line. */
  report({ configuration, ask }) {
    const { data, ...given } = configuration;
    const run = engine.call({ call: "open", configuration: given }, data);
    let phase = "";
    while (phase !== "done") phase = engine.call({ call: "advance", run, events: 100_000 }).phase;
    const { report } = engine.call({ call: "report", run });
    engine.call({ call: "close", run });
    postMessage({ kind: "reported", ask, report });
  },
};

onmessage = ({ data }) => guarded(() => TASKS[data.task](data));
