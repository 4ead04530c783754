"use strict";

/** What a unit does, in the colours of the waits that it causes. */
const WORKS = {
  idle: ["nothing", "#8883"],
  read: ["reads for the host", "#4477aa"],
  write: ["programs for the host", "#66ccee"],
  copy: ["copies a page", "#cc3311"],
  erase: ["erases a block", "#882255"],
  switch: ["suspends or resumes", "#aa4499"],
  background: ["works ahead", "#ddaa33"],
};

/** The states of a block, by number. */
const BLOCKS = ["erased", "open for the host", "full", "in a collection", "bad", "open for copies"];
const INK = { valid: "#5f86a6", stale: "#888b", victim: "#cc3311", host: "#009e73", copies: "#e69f00" };

/** Blocks in a row, and their sizes in pixels, by the blocks of a plane. */
const TINY = { across: 8, least: 7, height: 40, gap: 3, most: 16 };
const FEW = { across: 8, least: 7, height: 12, gap: 1, most: 128 };
const MANY = { across: 32, least: 3, height: 4, gap: 1 };
const BOX = { pad: 5, head: 16, gap: 8 };

/** The frame of a read that is shown. */
const FOLLOWED = "#e69f00";
/** The least height of stale pages in pixels, so that few are seen as well. */
const LEAST_STALE = 3;

/** The legends, in two lists inside an element that can be folded; `more` are of one page only. */
function driveLegends(colours, works, blocks, more = []) {
  colours.open = !window.matchMedia("(max-width: 30rem)").matches;
  const heads = Object.values(WORKS).slice(1).map(([words, colour]) => [`head of a unit that ${words}`, { background: colour }]);
  legend(works, [...heads, ["no colour: nothing to do", { border: "1px solid #8886" }]]);
  legend(blocks, [
    ["valid pages of a block", { background: INK.valid }],
    ["stale pages, drawn larger where they are few", { background: INK.stale }],
    ["valid pages of a block in a collection", { background: INK.victim }],
    ["erased pages", { border: "1px solid #8886" }],
    ["open for the host", { border: `2px solid ${INK.host}` }],
    ["open for copies", { border: `2px solid ${INK.copies}` }],
    ["being collected", { border: `2px solid ${INK.victim}` }],
    ["a read that waits", { background: "#4477aa", borderRadius: "50%" }],
    ["a write that waits", { background: "#66ccee", borderRadius: "50%" }],
    ["\u201c+2\u201d: two more wait than there are dots", { display: "none" }],
    ["a suspended collection", { borderBottom: `4px dashed ${WORKS.switch[1]}` }],
    ...more,
  ]);
}

/** The drive of one scheme: a canvas, and its state in words. */
class DriveView {
  constructor(scheme) {
    this.title = element("h3");
    this.canvas = element("canvas", { role: "img" });
    this.told = element("p", { class: "told" });
    this.element = element("div", { class: `drive-${scheme}` }, this.title, this.told, this.canvas);
    Object.assign(this, { picture: null, of_read: null });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** A picture; `followed` is a read that has a frame, and `told` its state in words. */
  show(name, picture, shape, followed = null, told = null) {
    Object.assign(this, { picture, shape, followed, of_read: told });
    this.title.textContent = name;
    this.draw();
  }

  clear(name) {
    this.title.textContent = name;
    this.picture = null;
    this.told.textContent = "";
    this.canvas.removeAttribute("aria-label");
    sized(this.canvas, this.element.clientWidth, 0);
  }

  /** Boxes of units in rows; in each box its planes, and in each plane its blocks, in rows too. */
  layout(width) {
    const { units } = this.picture;
    const { blocks_per_plane } = this.shape;
    const grid = [TINY, FEW].find(({ most }) => blocks_per_plane <= most) ?? MANY;
    const planes = Math.max(...units.map((unit) => unit.planes.length));
    const beside = Math.min(planes, 2);
    const boxWidth = (columns) => Math.floor((width + BOX.gap) / columns) - BOX.gap;
    const cellWidth = (columns) =>
      Math.floor(((boxWidth(columns) - BOX.pad) / beside - BOX.pad) / grid.across) - grid.gap;
    const fits = (columns) => columns <= units.length && cellWidth(columns) >= grid.least;
    const columns = [8, 4, 2].find(fits) ?? 1;
    const cell = Math.min(Math.max(cellWidth(columns), 1), 60);
    const rows = Math.ceil(blocks_per_plane / grid.across);
    const plane = { width: grid.across * (cell + grid.gap), height: rows * (grid.height + grid.gap) };
    const height = BOX.head + Math.ceil(planes / beside) * (plane.height + BOX.pad) + BOX.pad;
    const box = { width: beside * (plane.width + BOX.pad) + BOX.pad, height };
    return { plane, beside, box, columns, cell, grid };
  }

  draw() {
    const width = this.element.clientWidth;
    if (!this.picture || !width) return;
    const layout = this.layout(width);
    const { units } = this.picture;
    const height = Math.ceil(units.length / layout.columns) * (layout.box.height + BOX.gap);
    const pen = sized(this.canvas, width, height);
    units.forEach((unit, number) => {
      const x = (number % layout.columns) * (layout.box.width + BOX.gap);
      const y = Math.floor(number / layout.columns) * (layout.box.height + BOX.gap);
      this.drawUnit(pen, layout, unit, number, x, y);
    });
    this.told.textContent = this.words();
    this.canvas.setAttribute("aria-label", `${this.title.textContent}: ${this.told.textContent}`);
  }

  drawUnit(pen, layout, unit, number, x, y) {
    const { box, plane, beside } = layout;
    pen.fillStyle = WORKS[unit.work][1];
    pen.fillRect(x, y, box.width, BOX.head - 2);
    pen.fillStyle = inkOn(unit.work);
    pen.font = "10px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.fillText(`${unit.number ?? number} ${unit.work === "idle" ? "" : unit.work}`, x + 4, y + BOX.head / 2 - 1);
    if (unit.collection?.is_suspended) drawSuspended(pen, x, y + BOX.head - 4, box.width);
    this.drawQueue(pen, unit, x, x + box.width, y);
    pen.strokeStyle = this.isFollowed(unit) ? FOLLOWED : "#8884";
    pen.lineWidth = this.isFollowed(unit) ? 3 : 1;
    pen.strokeRect(x + 0.5, y + 0.5, box.width - 1, box.height - 1);
    unit.planes.forEach((of, at) => {
      const left = x + BOX.pad + (at % beside) * (plane.width + BOX.pad);
      const top = y + BOX.head + BOX.pad + Math.floor(at / beside) * (plane.height + BOX.pad);
      this.drawPlane(pen, layout, of, left, top);
    });
  }

  /** Dots for what waits, the oldest on the right. */
  drawQueue(pen, unit, left, right, y) {
    const room = Math.max(2, Math.floor((right - left - 66) / 8));
    unit.queue.slice(0, room).forEach(([is_read, arrived_ns], at) => {
      pen.fillStyle = is_read ? "#4477aa" : "#66ccee";
      pen.beginPath();
      pen.arc(right - 7 - at * 8, y + BOX.head / 2 - 1, 3.2, 0, 7);
      pen.fill();
      pen.lineWidth = this.followed !== null && arrived_ns === this.followed?.arrived_ns ? 2.5 : 1;
      pen.strokeStyle = pen.lineWidth > 1 ? FOLLOWED : "#fff";
      pen.stroke();
    });
    if (unit.queue.length > room) {
      pen.fillStyle = inkOn(unit.work);
      pen.textAlign = "right";
      pen.fillText(`+${unit.queue.length - room}`, right - 4 - room * 8, y + BOX.head / 2 - 1);
      pen.textAlign = "left";
    }
  }

  /** The blocks of a plane, colour by colour: a change of colour takes longer than a rectangle. */
  drawPlane(pen, { cell, grid }, plane, left, top) {
    const { blocks_per_plane, pages_per_block } = this.shape;
    const { across, height, gap } = grid;
    const blocks = this.picture.blocks.slice(plane * blocks_per_plane, (plane + 1) * blocks_per_plane);
    const written = (block) => block[2];
    const x = (at) => left + (at % across) * (cell + gap);
    const y = (at) => top + Math.floor(at / across) * (height + gap);
    const least = Math.min(LEAST_STALE, height / 3);
    const most = (block) => (height * block[2]) / pages_per_block - (block[2] > block[1] ? least : 0);
    const fill = (colour, pages) => {
      pen.fillStyle = colour;
      blocks.forEach((block, at) => {
        const drawn = (height * pages(block)) / pages_per_block;
        const tall = pages === written ? drawn : Math.min(drawn, Math.max(most(block), 0));
        if (tall) pen.fillRect(x(at), y(at) + height - tall, cell, tall);
      });
    };
    fill(INK.stale, written);
    fill(INK.valid, ([state, valid]) => (state === 3 ? 0 : valid));
    fill(INK.victim, ([state, valid]) => (state === 3 ? valid : 0));
    blocks.forEach(([state], at) => {
      const edge = { 1: INK.host, 3: INK.victim, 5: INK.copies }[state];
      if (!edge && grid === MANY) return;
      pen.lineWidth = edge ? 2 : 1;
      pen.strokeStyle = edge ?? "#8884";
      pen.strokeRect(x(at) + 0.5, y(at) + 0.5, cell - 1, height - 1);
    });
  }

  /** Whether the read that is followed waits at a unit, or is served by it. */
  isFollowed(unit) {
    const arrived_ns = this.followed?.arrived_ns ?? null;
    if (arrived_ns === null) return false;
    return unit.serves_ns === arrived_ns || unit.queue.some(([, arrived]) => arrived === arrived_ns);
  }

  words() {
    const { units } = this.picture;
    if (this.of_read !== null) return this.of_read;
    const doing = (work) => units.filter((unit) => unit.work === work).length;
    const waiting = units.reduce((sum, unit) => sum + unit.queue.length, 0);
    const collections = units.filter((unit) => unit.collection).length;
    return `${doing("read")} of ${plural(units.length, "unit")} read for the host, ${doing("write")} program, ` +
      `${doing("copy")} copy and ${doing("erase")} erase; ${plural(collections, "collection")} open, ` +
      `${plural(waiting, "page operation")} waiting.`;
  }
}

/** The colour of letters on the colour of a work. */
function inkOn(work) {
  if (work === "idle") return getComputedStyle(document.body).color;
  return work === "write" || work === "background" ? "#000" : "#fff";
}

/** A dashed line: the operation of a collection is suspended. */
function drawSuspended(pen, x, y, width) {
  pen.strokeStyle = WORKS.switch[1];
  pen.lineWidth = 4;
  pen.setLineDash([6, 4]);
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x + width, y);
  pen.stroke();
  pen.setLineDash([]);
}

/** The pen of a canvas of this size in CSS pixels, cleared. */
function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}
