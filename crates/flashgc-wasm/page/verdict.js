"use strict";

/** Whether the run of a scheme has reached steady state, as a sentence. */
function verdictWords(name, { steady, failures }) {
  if (failures?.read_only) return `${name} became read-only, so there is no steady state.`;
  if (steady.verdict === "yes") return `${name} is in steady state.`;
  if (steady.verdict === "no GC") return `${name} collected nothing, so that there is no steady state to reach.`;
  const more = steady.more_requests;
  const needed = more ? ` (about ${count(more)} more requests may be enough)` : "";
  return `${name} has not reached steady state${needed}.`;
}

/** The verdicts on both runs, and whether their numbers can be compared. */
function showVerdicts(names, reports, is_over) {
  const place = at("steady");
  const is_known = is_over && reports.every((report) => report?.steady);
  const told = is_known ? [...new Set(names.map((name, at) => verdictWords(name, reports[at])))] : ["Whether the runs are in steady state is known when they have ended."];
  const is_short = is_known && reports.some(({ steady }) => steady.verdict === "no");
  if (is_short) told.push("Do not compare these numbers. The command at full size, at the end of the page, gives its own verdict.");
  const words = told.join(" ");
  place.classList.toggle("short", is_short);
  if (place.textContent !== words) place.textContent = words;
}
