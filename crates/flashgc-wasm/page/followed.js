"use strict";

/** Where a read that is shown is on one drive, in words; null before it arrives. */
function followedWords({ units }, read, done, now_ns) {
  const waited_ns = Math.round(now_ns - read.arrived_ns);
  if (waited_ns < 0) return null;
  if (done && now_ns >= done.at_ns) return `The read is done after ${partsWords(done)}.`;
  const number = units.findIndex((unit) => unit.serves_ns === read.arrived_ns);
  if (number >= 0) return `${after(units[number].since_ns - read.arrived_ns)} unit ${unitName(units, number)} reads the page.`;
  const waits = units.findIndex((unit) => unit.queue.some(([, arrived_ns]) => arrived_ns === read.arrived_ns));
  return waits >= 0 ? queueWords(units, waits, read, waited_ns) : earlyWords(done, waited_ns);
}

function unitName(units, number) {
  return units[number].number ?? number;
}

/** "After 3.2 us", or "At once". */
function after(waited_ns) {
  return waited_ns > 0 ? `After ${time(waited_ns)}` : "At once";
}

/** The read has arrived, and is in the queue of no unit. */
function earlyWords(done, waited_ns) {
  const since = waited_ns > 0 ? `The read has waited ${time(waited_ns)}` : "The read arrives";
  const waits = done ? PARTS.slice(1).filter(([key]) => done.parts[key] > 0) : [];
  const cause = waits.length ? `It waits for ${listed(waits.map(([, words]) => words))}.` : "";
  return `${since}, and is in the queue of no unit yet. ${cause}`.trim();
}

function queueWords(units, number, { arrived_ns }, waited_ns) {
  const unit = units[number];
  const name = unitName(units, number);
  const before = unit.queue.findIndex(([, arrived]) => arrived === arrived_ns);
  const behind = before ? ` Before it in the queue: ${before}.` : "";
  const since = waited_ns > 0 ? `The read has waited ${time(waited_ns)} for` : "The read arrives at";
  const works = unit.work === "idle" ? "which is about to begin" : `which ${WORKS[unit.work][0]}`;
  return `${since} unit ${name}, ${works}.${collectionWords(unit, name)}${behind}`;
}

/** How far the collection of a unit is, and whether it waits meanwhile. */
function collectionWords({ collection, work }, name) {
  if (!collection || collection.erases) return "";
  const far = `${plural(collection.moved, "page")} moved, ${count(collection.left)} and the erase are left`;
  if (collection.is_suspended) return ` The collection of unit ${name} is suspended where it is: ${far}.`;
  const rests = ["read", "write", "idle"].includes(work);
  return ` The collection of unit ${name} ${rests ? "waits where it is" : "goes on"}: ${far}.`;
}
