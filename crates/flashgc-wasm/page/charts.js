"use strict";

const PERCENTILES = { mean: "mean", p50: "p50", p99: "p99", p99_9: "p99.9", p99_99: "p99.99" };

/** The latency of reads, or of writes, by percentile, with its parts: a row for each scheme. */
function showLatency(names, reports) {
  const kind = at("kind").value;
  const heads = ["", "scheme", "latency", "parts"].map((words) => element("th", { scope: "col" }, words));
  const rows = Object.entries(PERCENTILES).flatMap(([key, words]) => {
    const splits = reports.map((report) => report?.blame?.[kind]?.[key] ?? null);
    const longest = Math.max(1, ...splits.map((split) => split?.latency_ns ?? 0));
    return names.map((name, at) => {
      const split = splits[at];
      const bar = split ? partsBar(flat(split), split.latency_ns, longest) : "";
      return element("tr", at === 0 ? { class: "first" } : {},
        element("th", { scope: "row" }, at === 0 ? words : ""),
        element("td", {}, element("span", { class: `scheme-${at}` }, name)),
        element("td", {}, time(split?.latency_ns)), element("td", {}, bar));
    });
  });
  at("latency").replaceChildren(
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)),
  );
}

function partLegend() {
  legend(at("parts"), PARTS.map(([, words, colour]) => [words, { background: colour }]));
}

/** The write amplification between samples: programs by pages written, over simulated time. */
function interval(samples) {
  const points = [];
  const width = Math.max(1, Math.ceil(samples.length / 40));
  for (let to = width; to < samples.length; to += width) {
    const [start, written, programmed] = samples[to - width];
    const [end, more, made] = samples[to];
    if (more > written) points.push([(start + end) / 2, (made - programmed) / (more - written)]);
  }
  return points;
}

class AmplificationChart {
  constructor(canvas) {
    this.canvas = canvas;
    this.lines = [];
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
  }

  show(names, samples) {
    legend(at("lines"), names.map((name, at) => [name, { borderTop: `3px ${at ? "dashed var(--b)" : "solid var(--a)"}`, height: 0, verticalAlign: "middle", width: "1.6rem" }]));
    this.lines = names.map((name, at) => ({ name, points: interval(samples[at]) }));
    this.draw();
  }

  draw() {
    const width = this.canvas.parentElement.clientWidth;
    if (!width) return;
    const height = 208;
    const pen = sized(this.canvas, width, height);
    const all = this.lines.flatMap(({ points }) => points);
    const end = Math.max(1, ...all.map(([x]) => x));
    const top = Math.max(2, Math.ceil(Math.max(...all.map(([, y]) => y), 1) * 1.05));
    const area = { left: 34, right: width - 8, top: 8, bottom: height - 24 };
    const x = (ns) => area.left + ((area.right - area.left) * ns) / end;
    const y = (wa) => area.bottom - ((area.bottom - area.top) * (wa - 1)) / (top - 1);
    drawAxes(pen, area, end, top, x, y);
    const style = getComputedStyle(document.documentElement);
    this.lines.forEach(({ points }, at) => {
      pen.strokeStyle = style.getPropertyValue(at ? "--b" : "--a");
      pen.lineWidth = 2;
      pen.setLineDash(at ? [6, 3] : []);
      pen.beginPath();
      points.forEach(([ns, wa]) => pen.lineTo(x(ns), y(wa)));
      pen.stroke();
    });
    pen.setLineDash([]);
    const told = this.lines.map(({ name, points }) => `${name} ${points.length ? points.at(-1)[1].toFixed(2) : "-"}`);
    this.canvas.setAttribute("aria-label", `Write amplification, at last: ${told.join(", ")}`);
  }
}

function drawAxes(pen, area, end, top, x, y) {
  pen.fillStyle = getComputedStyle(document.body).color;
  pen.font = "12px system-ui, sans-serif";
  pen.strokeStyle = "#8884";
  pen.lineWidth = 1;
  const every = Math.max(1, Math.ceil((top - 1) / 5));
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (let wa = 1; wa <= top; wa += every) {
    pen.beginPath();
    pen.moveTo(area.left, y(wa));
    pen.lineTo(area.right, y(wa));
    pen.stroke();
    pen.fillText(String(wa), area.left - 6, y(wa));
  }
  pen.textBaseline = "top";
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    pen.textAlign = part === 0 ? "left" : part === 1 ? "right" : "center";
    pen.fillText(part === 0 ? "0" : time(end * part), x(end * part), area.bottom + 6);
  }
}
