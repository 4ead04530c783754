"use strict";

/** Works and places by their numbers in a recording. */
const FILM_WORKS = ["idle", "read", "write", "copy", "erase", "switch", "background"];
const FILM_PLACES = ["rest", "bus", "array"];
/** Pictures that are kept whole, at most: another one is a walk from the one before it. */
const KEPT = 64;

/** Bytes that are packed by zlib, as text. */
async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/** A recording: pictures of a drive, each as its difference to the one before. */
class Film {
  constructor(head, bytes) {
    Object.assign(this, { head, bytes });
    this.blocks = Array.from({ length: head.planes.length * head.blocks_per_plane }, () => [0, 0, 0]);
    this.units = head.units.map((unit) => ({ ...unit, work: "idle", place: "rest", since_ns: 0, serves_ns: null, queue: [], collection: null }));
    this.done = [0, 0, 0, 0];
    this.now_ns = 0;
    this.at = 0;
    this.number = -1;
    this.kept = [];
    this.times = new Float64Array(head.pictures);
    const every = Math.ceil(head.pictures / KEPT);
    while (this.number + 1 < head.pictures) {
      this.walk();
      this.times[this.number] = this.now_ns;
      if (this.number % every === 0) this.keep();
    }
    this.first = this.kept[0].done;
    this.go(0);
  }

  /** The number of the last picture at or before an instant. */
  numberAt(ns) {
    let [low, high] = [0, this.times.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.times[middle] <= ns) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The picture of this number. The walk to it from the one before says what its event changed. */
  go(number) {
    if (number < this.number || number > this.number + 2 * KEPT) {
      const from = this.kept.findLast((kept) => kept.number < number) ?? this.kept[0];
      if (number < this.number || from.number > this.number) this.restore(from);
    }
    while (this.number < number) this.walk();
    return this.picture();
  }

  picture() {
    return { now_ns: this.now_ns, blocks: this.blocks, units: this.units };
  }

  /** Requests, programs, copies and erases since the first picture. */
  counts() {
    return this.done.map((count, at) => count - this.first[at]);
  }

  keep() {
    const flat = new Uint32Array(3 * this.blocks.length);
    this.blocks.forEach((block, at) => flat.set(block, 3 * at));
    const { number, at, now_ns, done, units } = this;
    this.kept.push({ number, at, now_ns, flat, done: [...done], units: [...units] });
  }

  restore({ number, at, now_ns, flat, done, units }) {
    Object.assign(this, { number, at, now_ns, done: [...done], units: [...units] });
    this.news = [];
    this.blocks.forEach((block, place) => {
      for (let part = 0; part < 3; part += 1) block[part] = flat[3 * place + part];
    });
  }

  /** The next picture. */
  walk() {
    this.now_ns += this.read();
    for (let at = 0; at < 4; at += 1) this.done[at] += this.signed();
    this.news = [];
    let place = 0;
    for (let count = this.read(); count > 0; count -= 1) {
      place += this.read();
      const block = this.blocks[place];
      block[0] = this.bytes[this.at];
      this.at += 1;
      block[1] += this.signed();
      block[2] += this.signed();
      place += 1;
    }
    place = 0;
    for (let count = this.read(); count > 0; count -= 1) {
      place += this.read();
      const before = this.units[place];
      this.units[place] = this.unit(before);
      this.news.push([before, this.units[place]]);
      place += 1;
    }
    this.number += 1;
  }

  unit(before) {
    const bits = this.bytes[this.at];
    this.at += 1;
    const [work, place] = [FILM_WORKS[bits & 7], FILM_PLACES[(bits >> 3) & 3]];
    const unit = { ...before, work, place, since_ns: this.ago(), serves_ns: this.ago() };
    if (bits & 32) unit.queue = this.queue(before.queue);
    if (bits & 64) unit.collection = this.collection();
    return unit;
  }

  queue(before) {
    const [first, last, between] = [this.read(), this.read(), this.read()];
    const came = Array.from({ length: between }, () => {
      const both = this.read();
      const ago = Math.floor(both / 2);
      return [both % 2 === 1, ago ? this.now_ns - (ago - 1) : null];
    });
    return [...before.slice(0, first), ...came, ...before.slice(before.length - last)];
  }

  collection() {
    const bits = this.read();
    if (!bits) return null;
    const [plane, moved, left] = [this.read(), this.read(), this.read()];
    return { plane, moved, left, since_ns: this.ago(), erases: (bits & 2) > 0, is_suspended: (bits & 4) > 0 };
  }

  ago() {
    const ago = this.read();
    return ago ? this.now_ns - (ago - 1) : null;
  }

  signed() {
    const number = this.read();
    return number % 2 ? -(number + 1) / 2 : number / 2;
  }

  /** A number of variable length; it may pass 32 bits. */
  read() {
    let [number, scale] = [0, 1];
    for (;;) {
      const byte = this.bytes[this.at];
      this.at += 1;
      number += (byte & 127) * scale;
      if (byte < 128) return number;
      scale *= 128;
    }
  }
}
