"use strict";

/** The parts of a latency: the key of the engine, what a request waits for, and a colour. */
const PARTS = [
  ["service_ns", "its own work", "#4477aa"],
  ["host_ns", "other requests", "#66ccee"],
  ["copies_ns", "copies of a collection", "#cc3311"],
  ["erase_ns", "an erase", "#882255"],
  ["blocked_ns", "a collection that keeps its block or plane closed", "#ddaa33"],
  ["switch_ns", "a suspension", "#aa4499"],
  ["bus_ns", "transfers of a collection", "#ee99aa"],
  ["space_ns", "a free page", "#ee7733"],
  ["buffer_ns", "the write buffer", "#bbbbbb"],
];

/** The parts of a percentile, with those of collection beside the others. */
function flat(split) {
  return { ...split, ...split.collection };
}

/** A bar of the parts, as long as its share of the longest. */
function partsBar(parts, latency, longest) {
  const pieces = PARTS.filter(([key]) => parts[key] > 0).map(([key, words, colour]) =>
    element("i", {
      style: { background: colour, width: `${(100 * parts[key]) / longest}%` },
      title: `${words}: ${time(parts[key])}`,
    }),
  );
  const told = PARTS.filter(([key]) => parts[key] > 0).map(([key, words]) => `${time(parts[key])} ${words}`);
  return element("div", { class: "bar", role: "img", "aria-label": `${time(latency)}: ${told.join(", ")}` }, ...pieces);
}

/** Why a request took as long as it did, as a sentence. */
function why(request) {
  const { parts, latency_ns } = request;
  const waits = PARTS.slice(1).filter(([key]) => parts[key] > 0);
  if (!waits.length) return `${time(latency_ns)}: its unit was free, and all of it is the read itself.`;
  waits.sort(([one], [other]) => parts[other] - parts[one]);
  const told = waits.slice(0, 2).map(([key, words]) => `${time(parts[key])} for ${words}`);
  const own = time(parts.service_ns ?? 0);
  return `It took ${time(latency_ns)}. It waited ${told.join(" and ")}; the read itself took ${own}.`;
}
