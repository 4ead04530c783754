"use strict";

const SHOWN = 3;

/** The slowest reads of one scheme, each with the reason, and a button that shows it. */
class LateReads {
  constructor(watch) {
    this.watch = watch;
    this.title = element("h3");
    this.list = element("div");
    this.element = element("div", {}, this.title, this.list);
    this.seen = "";
  }

  /** The reads, with bars as parts of the longest of both schemes. */
  show(name, reads, longest_ns, is_over) {
    this.title.textContent = `The slowest reads under ${name}`;
    const shown = reads.slice(0, SHOWN);
    const none = is_over ? "No read was done." : "No read is done yet.";
    const seen = JSON.stringify([shown, longest_ns, shown.length || none]);
    if (seen === this.seen || (!is_over && this.isInUse())) return;
    this.seen = seen;
    const has_focus = this.list.contains(document.activeElement);
    this.list.replaceChildren(...shown.map((read) => this.entry(read, longest_ns)));
    if (has_focus) this.list.querySelector("button")?.focus();
    if (!shown.length) this.list.replaceChildren(element("p", {}, none));
  }

  /** A list that is pointed at, or has the focus, keeps its order while the runs go on. */
  isInUse() {
    return this.list.matches(":hover, :focus-within") && this.list.querySelector("button") !== null;
  }

  entry(read, longest_ns) {
    const words = `Show the read of ${time(read.latency_ns)} in slow motion`;
    return element("div", { class: "read" },
      element("div", {}, why(read)), partsBar(read.parts, read.latency_ns, longest_ns),
      element("button", { type: "button", "aria-label": words, onclick: () => this.watch(read) }, "Show it"));
  }
}

/** The slowest reads of both schemes, on one scale. */
function showLate(lists, names, slowest, is_over) {
  const longest_ns = Math.max(1, ...slowest.map(([first]) => first?.latency_ns ?? 0));
  lists.forEach((list, at) => list.show(names[at], slowest[at], longest_ns, is_over));
}
