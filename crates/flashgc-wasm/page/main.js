"use strict";
/** A read that is shown takes about this long. */
const SHOW_MS = 8000;

class Playground {
  constructor(worker) {
    this.worker = worker;
    this.choices = { ...START };
    /** What is wrong with what the reader gave, by control. */
    this.faults = {};
    this.pair = 0;
    this.ask = 0;
    this.asked = new Map();
    this.followed = null;
    this.data = null;
    this.trace = null;
    this.reports = [];
    this.shapes = [null, null];
    this.drives = [new DriveView(0), new DriveView(1)];
    this.late = [0, 1].map((scheme) => new LateReads((read) => this.follow(scheme, read)));
    this.amplification = new AmplificationChart(at("wa"));
    at("drives").append(...this.drives.map((view) => view.element));
    at("late").append(...this.late.map((reads) => reads.element));
    this.player = new Player((task, more) => this.tell(task, more), () => this.start());
    at("kind").addEventListener("change", () => showLatency(this.names(), this.reports));
    driveLegends(at("colours"), at("works"), at("blocks"), [["the read that is shown: its unit, and a ring around its dot", { border: `3px solid ${FOLLOWED}` }]]);
    partLegend();
    worker.onmessage = ({ data }) => this[data.kind](data);
  }

  tell(task, more = {}) {
    this.worker.postMessage({ task, ...more });
  }

  /** A question to the worker; its answer comes with the same number. */
  question(task, more) {
    this.ask += 1;
    const ask = this.ask;
    this.tell(task, { ...more, ask });
    return new Promise((answer) => this.asked.set(ask, answer));
  }

  checked({ ask, answers }) {
    this.asked.get(ask)(answers);
    this.asked.delete(ask);
  }

  reported({ ask, report }) {
    this.asked.get(ask)(report);
    this.asked.delete(ask);
  }

  presets({ schemes, devices }) {
    this.schemes = schemes;
    this.devices = devices;
    at("controls").addEventListener("input", () => this.changed());
    this.takeAddress();
  }

  /** The configuration of the address. */
  takeAddress() {
    const { choices, faults } = fromAddress(location.hash, this.schemes.map(({ name }) => name));
    this.choices = choices;
    fillControls(choices, this.schemes);
    this.faults = faults;
    tellFaults(faults);
    this.start();
  }

  names() {
    return [this.choices.a, this.choices.b];
  }

  changed() {
    const before = this.choices.device;
    this.choices = readControls(this.choices);
    if (this.choices.device !== before) {
      this.choices.load = DEVICES[this.choices.device].load;
      at("controls").elements.load.value = this.choices.load;
    }
    showOutputs(this.choices);
    this.faults = seedFault(this.choices);
    tellFaults(this.faults);
    clearTimeout(this.waits);
    this.waits = setTimeout(() => this.start(), 250);
  }

  /** A trace that the reader has given, as a file. */
  async replay(file) {
    try {
      this.trace = { name: file.name, data: new Uint8Array(await file.arrayBuffer()) };
    } catch (wrong) {
      tellAt(at("trace"), `${file.name} cannot be read: ${wrong.message}`);
      return;
    }
    offerTrace(file);
    this.changed();
  }

  /** Both runs from their beginning; or up to an instant, and on in slow motion. */
  async start(until = null) {
    if (!until) {
      this.followed = null;
      at("followed").textContent = "";
    }
    try {
      history.replaceState(null, "", toAddress(this.choices));
    } catch {
      location.hash = toAddress(this.choices);
    }
    showOutputs(this.choices);
    this.player.begins(until);
    this.showText();
    this.pair += 1;
    const pair = this.pair;
    at("wrong").hidden = true;
    const configurations = this.names().map((scheme) => configuration(this.choices, scheme, this.trace));
    const answers = await this.question("check", { configurations });
    if (pair !== this.pair) return;
    this.shapes = answers.map(({ ok }) => ok ?? null);
    if (answers.some(({ error }) => error)) {
      this.refused(answers);
      return;
    }
    at("size").textContent = sizeWords(this.shapes[0]);
    this.tell("start", { pair, configurations, until });
  }

  ready() {}

  wrong({ pair, text }) {
    if (pair !== this.pair) return;
    const { choices, trace } = this;
    const is_of_trace = choices.workload === TRACE && text.includes(trace.name);
    this.tellWrong(text, is_of_trace ? { trace: firstOf(text) } : {});
  }

  /** A configuration, or both, that the engine cannot run. */
  refused(answers) {
    const texts = answers.map(({ error }, at) => error && `Scheme ${"AB"[at]}, ${this.names()[at]}: ${error}`);
    const [a, b] = answers.map(({ error }) => error && firstOf(error));
    const told = [a, b].map((error, at) => error && `Scheme ${"AB"[at]}, ${this.names()[at]}: ${error}`);
    // Two schemes that are refused for the same reason are not that reason.
    const is_of_both = a === b && this.choices.a !== this.choices.b;
    this.tellWrong(texts.filter(Boolean).join("\n\n"), is_of_both ? {} : { a: told[0], b: told[1] });
  }

  /** Says what is wrong, at the top and at its control; the results of the run before are cleared. */
  tellWrong(text, faults) {
    at("wrong").textContent = forThePage(text);
    at("wrong").hidden = false;
    this.clear();
    if (Object.keys(faults).length) tellFaults({ ...this.faults, ...faults });
    else inView(at("wrong"));
  }

  clear() {
    this.player.stops();
    this.data = null;
    this.reports = [];
    const names = this.names();
    this.drives.forEach((drive, at) => drive.clear(names[at]));
    showLate(this.late, names, [[], []], true);
    showLatency(names, []);
    this.amplification.show(names, [[], []]);
    for (const id of ["hashes", "size", "followed", "steady"]) at(id).textContent = "";
  }

  frame(data) {
    this.tell("drawn");
    if (data.pair !== this.pair) return;
    this.data = data;
    const { mode, now_ns, runs } = data;
    this.player.show(mode, now_ns, runs);
    if (!runs.every((run) => run.report)) return;
    const names = this.names();
    runs.forEach((run, at) => this.showDrive(run, at, now_ns));
    this.restAfterFollowed(now_ns);
    // Figures of the whole run stay while one of its reads is shown.
    if (this.followed && mode !== "full" && mode !== "over") return;
    const is_over = runs.every(({ phase }) => phase === "done");
    showLate(this.late, names, runs.map(({ slowest_reads }) => slowest_reads), is_over);
    this.reports = runs.map(({ report }) => report);
    showLatency(names, this.reports);
    showVerdicts(names, this.reports, is_over);
    this.amplification.show(names, runs.map(({ samples }) => samples));
    this.showHashes(runs);
  }

  /** The drive of a run, and where the read that is shown is on it. */
  showDrive({ picture, shown }, at, now_ns) {
    const { followed } = this;
    const done = shown ?? (followed?.scheme === at ? followed : null);
    const told = followed && followedWords(picture, followed, done, now_ns);
    this.drives[at].show(this.names()[at], picture, this.shapes[at], followed, told);
  }

  /** A read that was shown is done: the clock stops a moment later. */
  restAfterFollowed(now_ns) {
    const { followed } = this;
    if (!followed || this.data.mode !== "slow" || followed.is_over || now_ns < followed.at_ns + followed.latency_ns / 20) return;
    followed.is_over = true;
    this.tell("pause");
  }

  showHashes(runs) {
    const hashes = runs.map(({ report }, at) => `${this.names()[at]} ${report.result_hash || "(when it has ended)"}`);
    at("hashes").textContent = hashes.join(", ");
  }

  showText() {
    const { choices } = this;
    at("text").textContent = toToml(choices);
    at("same").textContent = sameCommand(choices, this.trace);
    const { keys } = this.devices.find(({ name }) => name === choices.device);
    const planes = keys.channels * keys.chips_per_channel * keys.dies_per_chip * keys.planes_per_die;
    const counts = { ...keys, ...DEVICES[choices.device].counts };
    const small = counts.channels * counts.chips_per_channel * counts.dies_per_chip * counts.planes_per_die;
    at("full").textContent = fullCommand(choices, [small, planes], this.trace);
  }

  /** Goes to the arrival of a read and shows its wait in slow motion, on both drives. */
  follow(scheme, read) {
    const ns = Math.max(1, read.latency_ns / SHOW_MS);
    const lead = Math.min(read.arrived_ns, Math.ceil(read.latency_ns / 16));
    this.followed = { ...read, scheme };
    at("followed").textContent = `Shown: the read that took ${time(read.latency_ns)} under ${this.names()[scheme]}. It arrives after ${clock(read.arrived_ns)}, on both drives.`;
    this.start({ at_ns: read.arrived_ns - lead, ns, number: read.number });
    this.player.takeFocus();
    at("drive-title").scrollIntoView({ behavior: "smooth", block: "start" });
  }
}

/** The first line of an error. */
function firstOf(error) {
  return error.replace(/^error: /, "").split("\n")[0];
}

/** An error of the engine; an option that it names is one of the command. */
function forThePage(text) {
  return text.replace("name it with `--format`", "the command can be told its format, as `--format`");
}
