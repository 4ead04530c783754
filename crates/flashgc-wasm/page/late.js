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

  show(name, reads) {
    this.title.textContent = `The slowest reads under ${name}`;
    const shown = reads.slice(0, SHOWN);
    const seen = JSON.stringify(shown);
    if (seen === this.seen) return;
    this.seen = seen;
    const longest = shown[0]?.latency_ns ?? 1;
    const has_focus = this.list.contains(document.activeElement);
    this.list.replaceChildren(...shown.map((read) => this.entry(read, longest)));
    if (has_focus) this.list.querySelector("button")?.focus();
    if (!shown.length) this.list.replaceChildren(element("p", {}, "No read is done yet."));
  }

  entry(read, longest) {
    const words = `Show the read of ${time(read.latency_ns)} in slow motion`;
    return element("div", { class: "read" },
      element("div", {}, why(read)), partsBar(read.parts, read.latency_ns, longest),
      element("button", { type: "button", "aria-label": words, onclick: () => this.watch(read) }, "Show it"));
  }
}
