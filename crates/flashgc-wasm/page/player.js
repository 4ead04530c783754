"use strict";

/** Slow motion: simulated ns in a ms of the reader. */
const SPEEDS = [
  ["full speed", 0],
  ["100 ms a second", 100_000],
  ["20 ms a second", 20_000],
  ["5 ms a second", 5000],
  ["1 ms a second", 1000],
  ["0.2 ms a second", 200],
];

/** The clock of both runs: its buttons, and how far it is. */
class Player {
  constructor(tell, again) {
    this.tell = tell;
    this.mode = "over";
    this.shown_ns = null;
    const speeds = SPEEDS.map(([words, ns]) => element("option", { value: ns }, words));
    this.other = element("option", { value: "other", hidden: "" }, "as shown");
    at("speed").replaceChildren(...speeds, this.other);
    at("again").addEventListener("click", again);
    at("pause").addEventListener("click", () => (this.mode === "pause" ? this.goOn() : tell("pause")));
    at("step").addEventListener("click", () => tell("step"));
    at("speed").addEventListener("change", () => this.goOn());
    new ResizeObserver(([{ target }]) => document.body.style.setProperty("--bar", `${target.offsetHeight}px`)).observe(at("player"));
    playerKeys(at("player"), {
      " ": () => at("pause").click(),
      ArrowRight: () => at("step").click(),
      Home: again,
      End: () => this.toEnd(),
    });
  }

  /** On at full speed. */
  toEnd() {
    at("speed").value = "0";
    this.goOn();
  }

  /** The focus goes to *Pause* as soon as the clock goes on. */
  takeFocus() {
    this.takes_focus = true;
  }

  /** The focus, unless the reader has moved it meanwhile. */
  giveFocus() {
    this.takes_focus = false;
    const from = document.activeElement;
    if (from === document.body || from.closest(".read")) at("pause").focus({ preventScroll: true });
  }

  goOn() {
    const { value } = at("speed");
    const ns = value === "other" ? this.shown_ns : Number(value);
    if (ns) this.tell("slow", { ns });
    else this.tell("full");
  }

  /** A run begins, at full speed or up to an instant. */
  begins(until) {
    this.shown_ns = until?.ns ?? null;
    this.other.hidden = !until;
    at("speed").value = until ? "other" : "0";
    this.show("prepare", 0, []);
  }

  stops() {
    this.show("over", null, []);
    at("clock").textContent = "Not running";
  }

  show(mode, now_ns, runs) {
    this.mode = mode;
    const runs_now = ["full", "slow", "pause"].includes(mode);
    for (const id of ["pause", "step", "speed"]) at(id).disabled = !runs_now;
    if (runs_now && this.takes_focus) this.giveFocus();
    at("pause").textContent = mode === "pause" ? "Continue" : "Pause";
    const done = runs.map((run) => run.done / (run.total || 1));
    const part = runs.length ? Math.min(...done) : 0;
    at("progress").value = Math.min(1, part);
    at("clock").textContent = {
      prepare: "The drives are being filled",
      seek: "On the way to the read",
      over: `Ended after ${time(now_ns)}`,
    }[mode] ?? `${clock(now_ns)} of drive time`;
  }
}
