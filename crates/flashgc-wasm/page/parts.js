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

/** A part of a latency has a name of its own from this share on. */
const NAMED = 0.01;

/** "a, b and c". */
function listed(words) {
  return [words.slice(0, -1).join(", "), words.at(-1)].filter(Boolean).join(" and ");
}

/** A latency and its parts, the longest wait first. The parts are the whole: what is short is the rest. */
function partsWords({ parts, latency_ns }) {
  const own_ns = parts.service_ns ?? 0;
  const waits = PARTS.slice(1).filter(([key]) => parts[key] > 0).sort(([one], [other]) => parts[other] - parts[one]);
  const named = waits.filter(([key]) => parts[key] >= NAMED * latency_ns);
  const rest_ns = waits.reduce((sum, [key]) => sum + parts[key], 0) - named.reduce((sum, [key]) => sum + parts[key], 0);
  const told = named.map(([key, words]) => `${time(parts[key])} for ${words}`);
  if (rest_ns > 0) told.push(`${time(rest_ns)} for the rest`);
  if (own_ns > 0) told.push(`${time(own_ns)} for its own work`);
  return `${time(latency_ns)}: ${listed(told)}`;
}

/** Why a read took as long as it did, as a sentence. */
function why(read) {
  const has_waited = PARTS.slice(1).some(([key]) => read.parts[key] > 0);
  if (!has_waited) return `It took ${time(read.latency_ns)}: its unit was free, and all of it is the read itself.`;
  return `It took ${partsWords(read)}.`;
}
