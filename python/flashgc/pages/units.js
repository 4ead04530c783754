"use strict";

/** Quantities as text, in the units of the command line. */

function time(ns) {
  if (ns === null || ns === undefined) return "-";
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]]) {
    if (ns >= size) return `${short(ns / size)} ${unit}`;
  }
  return `${ns} ns`;
}

function short(number) {
  return number >= 1000 ? count(Math.round(number)) : String(Number(number.toPrecision(3)));
}

function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

function share(part, whole) {
  return `${Math.round((100 * part) / whole)} %`;
}

function size(bytes) {
  for (const [unit, one] of [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20]]) {
    if (bytes >= one) return `${short(bytes / one)} ${unit}`;
  }
  return `${short(bytes / 1024)} KiB`;
}

function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** An element with attributes and children; texts are never read as markup. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") Object.assign(made.style, value);
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function at(id) {
  return document.getElementById(id);
}

/** A legend in a list: names with their colours. */
function legend(list, names) {
  list.replaceChildren(
    ...names.map(([words, style]) => element("li", {}, element("i", { style }), words)),
  );
}

/** An instant, to the microsecond. */
function clock(ns) {
  return `${count(Math.floor(ns / 1e6))}.${String(Math.floor(ns / 1e3) % 1000).padStart(3, "0")} ms`;
}

/**
 * The keys of a player, wherever the focus is in it. A button that a pointer has clicked keeps the
 * focus, and space is a key of the player on it. Returns the handler, for keys from elsewhere.
 */
function playerKeys(player, keys) {
  let clicked = null;
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key, target } = event;
    const is_own = target.matches("select, summary") || (key === " " && target.matches("button") && target !== clicked);
    if (!keys[key] || is_own) return;
    event.preventDefault();
    keys[key]();
  };
  player.addEventListener("click", ({ detail, target }) => (clicked = detail > 0 ? target.closest("button") : null));
  player.addEventListener("focusout", () => (clicked = null));
  player.addEventListener("keydown", press);
  // Some browsers click a button when the key is released.
  player.addEventListener("keyup", (event) => event.key === " " && event.target === clicked && event.preventDefault());
  return press;
}
