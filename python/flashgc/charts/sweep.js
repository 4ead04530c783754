// The page of a sweep: small multiples whose axes the reader chooses, and a table of the points
// that sorts and filters. What the table leaves out is left out of the chart.
"use strict";
(() => {
  const root = document.querySelector(".explorer");
  const { axes, labels, metrics, columns, layout, places, places_at: placesAt } =
    JSON.parse(root.querySelector("script.points").textContent);
  const look = JSON.parse(document.getElementById("look").textContent);
  const template = JSON.parse(root.querySelector("script.template").textContent);
  const names = Object.keys(columns);
  const count = columns[names[0]].length;
  const points = Array.from({ length: count }, (_, at) =>
    Object.fromEntries(names.map((name) => [name, columns[name][at]])));
  const isTime = (name) => metrics.some((one) => one.name === name && one.time);
  const isNumber = (axis) => axes[axis].every((one) => typeof one === "number");
  // Texts that are numbers with one unit stand at these numbers.
  const standsAt = (axis, value) => placesAt[axis]?.[value] ?? value;
  const isSaturated = (row) => row.state === "saturated";
  const chosen = { ...layout };
  const SHOWN = 300; // rows of the table, until more are asked for
  const UNITS = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };

  const element = (tag, attributes = {}, ...inside) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  };

  const figures = (value) => Number(value.toPrecision(5)).toLocaleString("en-US",
    { maximumSignificantDigits: 5 });
  const text = (name, value) => {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    if (!isTime(name)) return name in axes ? String(value) : figures(value);
    const [unit, ns] = Object.entries({ s: 1e9, ms: 1e6, us: 1e3, ns: 1 })
      .find(([, ns]) => value >= ns) ?? ["ns", 1];
    return `${figures(value / ns)} ${unit}`;
  };

  // --- the chart
  const plot = root.querySelector(".plot");
  let run = 0;
  const grouped = (rows) => {
    const groups = new Map();
    for (const row of rows) {
      const value = row[chosen.metric];
      if (value === null || value === undefined || isSaturated(row)) continue;
      const key = places.map((place) => (chosen[place] ? row[chosen[place]] : null));
      const at = JSON.stringify(key);
      if (!groups.has(at)) groups.set(at, { key, values: [] });
      groups.get(at).values.push(value);
    }
    return [...groups.values()].map(({ key, values }) => ({
      ...Object.fromEntries(places.map((place, at) => [place, key[at]])),
      x_at: standsAt(chosen.x, key[places.indexOf("x")]),
      mean: values.reduce((sum, one) => sum + one, 0) / values.length,
      least: Math.min(...values), most: Math.max(...values), points: values.length,
    }));
  };

  const specification = (rows) => {
    const fill = structuredClone(template[isTime(chosen.metric) ? "time" : "number"]);
    const x = fill.inner.encoding.x;
    const order = (place) => axes[chosen[place]];
    delete x.axis.values;
    if (isNumber(chosen.x) || placesAt[chosen.x]) {
      const stand = order("x").map((one) => standsAt(chosen.x, one));
      Object.assign(x, { field: "x_at", type: "quantitative",
        scale: { zero: false, nice: false, padding: 6 } });
      Object.assign(x.axis, { values: [...new Set(stand)].sort((one, two) => one - two),
        labelOverlap: true });
      const unit = placesAt[chosen.x] ? order("x")[0].replace(/^[-.\d\s]+/, "") : "";
      if (unit) x.axis.labelExpr = `datum.label + ${JSON.stringify(` ${unit}`)}`;
    } else {
      Object.assign(x, { field: "x", type: "ordinal", sort: order("x") });
      delete x.scale; // that of the template is for numbers
    }
    x.axis.title = labels[chosen.x];
    for (const layer of fill.inner.layer) {
      layer.encoding.y.axis.title = labels[chosen.metric];
      layer.encoding.y.scale.type = scale.checked ? "log" : "linear";
    }
    const last = fill.inner.layer.at(-1);
    last.encoding.tooltip = [
      ...places.filter((place) => chosen[place])
        .map((place) => ({ field: place, type: "nominal", title: labels[chosen[place]] })),
      ...fill.tooltip];
    if (chosen.series) {
      const { colours: all } = template;
      const colours = order("series").map((_, at) => all[at % all.length]);
      Object.assign(fill.inner.encoding, fill.lines);
      fill.inner.encoding.color.scale = { domain: order("series"), range: colours };
      fill.inner.encoding.color.legend.title = labels[chosen.series];
      last.params = fill.params;
    }
    const columns = chosen.column ? order("column").length : 1;
    const wide = plot.clientWidth - (chosen.row ? 96 : 72);
    const width = Math.max(wide / columns - 14, 70);
    const size = { width, height: chosen.row ? 130 : Math.min(Math.max(width * 0.6, 150), 300) };
    const data = { name: "rows", values: grouped(rows) };
    const facet = Object.fromEntries(["row", "column"].filter((place) => chosen[place])
      .map((place) => [place, { field: place, type: "nominal", sort: order(place),
        header: { title: labels[chosen[place]], labelLimit: width } }]));
    const common = { $schema: template.schema, data, transform: fill.transform };
    const several = Object.keys(facet).length > 0;
    if (several) for (const layer of fill.inner.layer) layer.encoding.y.axis.title = null;
    if (several) x.axis.title = null;
    const title = { ...template.title, text: `${labels[chosen.metric]} over ${labels[chosen.x]}` };
    return several
      ? { ...common, title, facet, spec: { ...fill.inner, ...size }, spacing: 14 }
      : { ...common, ...fill.inner, ...size };
  };

  const draw = async () => {
    const own = ++run;
    const rows = filtered();
    const { view } = await vegaEmbed(plot, specification(rows), {
      actions: false, ast: true, renderer: "svg", config: look, mode: "vega-lite",
      tooltip: { theme: "page" },
    });
    if (own === run) window.flashgcCharts.sweep = view;
  };

  // --- the choices
  const bar = element("p", { class: "choices" });
  const select = (title, options, value, set) => {
    const box = element("select", { "aria-label": title },
      ...options.map((one) => element("option", { value: one }, labels[one] ?? "none")));
    box.value = value;
    box.addEventListener("change", () => { set(box.value); draw(); });
    bar.append(element("label", {}, `${title} `, box), " ");
    return box;
  };
  const boxes = {};
  const move = (place, axis) => {
    // An axis is in one place: the one that it leaves gets what was here.
    const from = places.find((other) => other !== place && axis && chosen[other] === axis);
    if (from) {
      chosen[from] = chosen[place];
      boxes[from].value = chosen[from];
    }
    chosen[place] = axis;
    if (!chosen.x) chosen.x = boxes.x.value = Object.keys(axes)[0];
  };
  select("metric", metrics.map((one) => one.name), chosen.metric, (name) => {
    chosen.metric = name;
  });
  const titles = { x: "over", series: "lines", column: "columns", row: "rows" };
  for (const place of places) {
    const options = place === "x" ? Object.keys(axes) : ["", ...Object.keys(axes)];
    boxes[place] = select(titles[place], options, chosen[place], (axis) => move(place, axis));
  }
  const scale = element("input", { type: "checkbox" });
  scale.addEventListener("change", draw);
  bar.append(element("label", {}, scale, " logarithmic"));
  root.prepend(bar);

  // --- the table
  const filters = new Map(); // column -> a test
  let sorted = null; // [column, 1 or -1]
  let shown = SHOWN;
  const filtered = () => points.filter((row) =>
    [...filters].every(([name, test]) => test(row[name])));

  const condition = (typed) => {
    const form = /^\s*(<=|>=|<|>|=)?\s*(-?[\d.]+(?:e[-+]?\d+)?)\s*(ns|us|µs|ms|s|%)?\s*$/i;
    const found = form.exec(typed);
    if (!found) return null;
    const limit = Number(found[2]) * (found[3] === "%" ? 0.01 : UNITS[found[3]] ?? 1);
    const tests = {
      "<": (one) => one < limit, "<=": (one) => one <= limit, ">": (one) => one > limit, ">=": (one) => one >= limit, "=": (one) => one === limit,
    };
    const test = tests[found[1] ?? "="];
    return (one) => one !== null && test(one);
  };

  const chosenFilter = (axis) => {
    const values = axes[axis] ?? [...new Set(columns[axis])];
    const box = element("select", { "aria-label": `show ${labels[axis] ?? axis}` },
      element("option", { value: "" }, "all"),
      ...values.map((one, at) => element("option", { value: at }, String(one))));
    box.addEventListener("change", () => {
      const value = values[box.value];
      if (box.value === "") filters.delete(axis); else filters.set(axis, (one) => one === value);
      changed();
    });
    return box;
  };
  const typedFilter = (name) => {
    const box = element("input", { type: "text", placeholder: isTime(name) ? "< 5 ms" : "< 2",
      size: 7, "aria-label": `show ${name}` });
    box.addEventListener("input", () => {
      const test = condition(box.value);
      box.setAttribute("aria-invalid", String(Boolean(box.value.trim() && !test)));
      if (test) filters.set(name, test); else filters.delete(name);
      changed();
    });
    return box;
  };

  const listed = [...Object.keys(axes), "state", ...metrics.map((one) => one.name)];
  const body = element("tbody");
  const said = element("p", { class: "about", role: "status" });
  const more = element("button", { type: "button" }, "show all");
  const heads = listed.map((name) => {
    const button = element("button", { type: "button", title: name }, labels[name]);
    const head = element("th", { scope: "col", "aria-sort": "none" }, button);
    button.addEventListener("click", () => {
      sorted = [name, sorted && sorted[0] === name ? -sorted[1] : 1];
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", sorted[1] > 0 ? "ascending" : "descending");
      fillTable();
    });
    return head;
  });
  const fillTable = () => {
    const rows = filtered();
    if (sorted) {
      const [name, way] = sorted;
      const order = name in axes && !isNumber(name) ? axes[name] : null;
      const value = (row) => (order ? order.indexOf(row[name]) : row[name]);
      const isMetric = metrics.some((one) => one.name === name);
      const isOut = (row) => value(row) === null || (isMetric && isSaturated(row));
      // Points without a value that can be compared come last, whichever way the table is sorted.
      rows.sort((one, two) => isOut(one) - isOut(two) ||
        way * ((value(one) > value(two)) - (value(one) < value(two))));
    }
    body.replaceChildren(...rows.slice(0, shown).map((row) =>
      element("tr", { class: isSaturated(row) ? "saturated" : "" }, ...listed.map((name) => element("td", {}, text(name, row[name]))))));
    const part = rows.length > shown ? `, of which ${shown} are listed` : "";
    const [some, all] = [rows.length, count].map((one) => one.toLocaleString("en-US"));
    said.replaceChildren(`${some} of ${all} points${part} `);
    if (rows.length > shown) said.append(more);
  };
  more.addEventListener("click", () => { shown = Infinity; fillTable(); });
  let waiting = 0;
  const changed = () => {
    fillTable();
    clearTimeout(waiting);
    waiting = setTimeout(draw, 150);
  };
  const inputs = listed.map((name) =>
    element("td", {}, name in axes || name === "state"
      ? chosenFilter(name) : typedFilter(name)));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads),
    element("tr", { class: "filters" }, ...inputs)), body);
  root.append(element("h2", {}, "Points"), said, element("div", { class: "wide points" }, table));
  window.flashgcCharts ??= {};
  fillTable();
  draw();
  let width = plot.clientWidth;
  window.addEventListener("resize", () => {
    if (plot.clientWidth === width) return;
    width = plot.clientWidth;
    changed();
  });
})();
