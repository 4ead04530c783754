"use strict";

/** The form, as choices and back. */

function fillControls(choices, schemes) {
  const { a, b, device, workload, requests } = at("controls").elements;
  for (const select of [a, b]) {
    select.replaceChildren(...schemes.map(({ name, keys }) => option(name, `${name}: ${titleOf(keys, name)}`)));
  }
  device.replaceChildren(...Object.entries(DEVICES).map(([name, { title }]) => option(name, title)));
  workload.replaceChildren(...Object.entries(WORKLOADS).map(([name, words]) => option(name, words)));
  const counts = REQUESTS.includes(choices.requests) ? REQUESTS : [...REQUESTS, choices.requests];
  requests.replaceChildren(...counts.map((number) => option(number, count(number))));
  for (const name of Object.keys(START)) at("controls").elements[name].value = choices[name];
}

/** A trace becomes a workload, in place of the one before. */
function offerTrace({ name }) {
  const { workload } = at("controls").elements;
  [...workload.options].find(({ value }) => value === TRACE)?.remove();
  workload.append(option(TRACE, `trace ${name}`));
  workload.value = TRACE;
}

/** A message at a control, or none. */
function tellAt(control, text = "") {
  const id = `fault-${control.name || control.id}`;
  const note = at(id) ?? element("p", { class: "fault", role: "alert", id });
  note.textContent = text;
  if (text) control.closest("label").after(note);
  else note.remove();
  for (const [key, value] of [["aria-invalid", "true"], ["aria-describedby", id]]) {
    if (text) control.setAttribute(key, value);
    else control.removeAttribute(key);
  }
}

/** The messages at the controls, by name; all others are cleared. */
function tellFaults(faults) {
  for (const control of at("controls").elements) tellAt(control, faults[control.name || control.id]);
  inView(document.querySelector(".fault"));
}

/** Scrolls only to what is out of view. */
function inView(place) {
  place?.scrollIntoView({ block: "nearest" });
}

/** A seed that is no seed, in words. */
function seedFault({ seed }) {
  const control = at("controls").elements.seed;
  const is_good = control.value !== "" && control.checkValidity();
  return is_good ? {} : { seed: `It must be a whole number from 0 to ${count(LIMITS.seed[1])}; the runs have seed ${seed}.` };
}

function titleOf(keys, name) {
  const title = keys?.about?.title ?? "";
  return title.toLowerCase().startsWith(`${name}: `) ? title.slice(name.length + 2) : title;
}

function option(value, words) {
  return element("option", { value }, words);
}

function readControls(choices) {
  const { elements } = at("controls");
  const read = (name) => {
    const { value } = elements[name];
    return typeof START[name] === "number" ? Number(value) : value;
  };
  const found = Object.fromEntries(Object.keys(START).map((name) => [name, read(name)]));
  if (!Number.isInteger(found.seed) || elements.seed.value === "" || !elements.seed.checkValidity()) found.seed = choices.seed;
  return found;
}

/** The speed of a replayed trace. */
function speedWords(times) {
  return times === 1 ? "at its recorded speed" : `at ${short(times)} times its recorded speed`;
}

function showOutputs({ spare, load, skew, reads, workload }) {
  const replays = workload === TRACE;
  for (const name of ["skew", "reads"]) at("controls").elements[name].disabled = replays;
  const words = {
    spare: `${spare} %`,
    load: replays ? speedWords(LOADS[load] / LOADS[START.load]) : `${count(LOADS[load])} requests a second`,
    skew: skew ? `Zipf ${skew / 10}` : "none",
    reads: `${reads} %`,
  };
  for (const [name, text] of Object.entries(words)) {
    const control = at("controls").elements[name];
    control.parentElement.querySelector(".value").textContent = text;
    control.setAttribute("aria-valuetext", text);
  }
}

function sizeWords({ planes, units, blocks_per_plane, pages_per_block, user_bytes }) {
  return `A small drive of this kind: ${plural(planes, "plane")} in ${plural(units, "unit")}, each plane with ` +
    `${blocks_per_plane} blocks of ${pages_per_block} pages; ${size(user_bytes)} for the host. A unit does one thing at a time.`;
}
