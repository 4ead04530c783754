// Draws the charts of a page as they come into view, and connects them: the legend switches names
// on and off in all charts, and charts with a common axis are zoomed together.
"use strict";
(() => {
  const look = JSON.parse(document.getElementById("look").textContent);
  const drawn = new Map(); // figure -> { view, chart }
  const switched = new Map(); // series -> names that are on
  const zoomed = new Map(); // signal -> its value
  window.flashgcCharts = {}; // name -> view, for scripts of the reader

  const rows = (columns) => {
    const names = Object.keys(columns);
    const count = names.length ? columns[names[0]].length : 0;
    return Array.from({ length: count }, (_, at) =>
      Object.fromEntries(names.map((name) => [name, columns[name][at]])));
  };

  const share = (view, signal) => {
    const has = (name) => name in view.getState({ signals: () => true }).signals;
    if (!has(signal)) return;
    if (zoomed.has(signal)) view.signal(signal, zoomed.get(signal));
    view.addSignalListener(signal, (_, value) => {
      if (JSON.stringify(value) === JSON.stringify(zoomed.get(signal))) return;
      zoomed.set(signal, value);
      for (const other of drawn.values()) {
        if (other && other.view !== view && other.chart.linked.includes(signal)) {
          other.view.signal(signal, value).runAsync();
        }
      }
    });
  };

  const read = new WeakMap();
  const described = (figure) => {
    if (!read.has(figure)) {
      read.set(figure, JSON.parse(figure.querySelector("script").textContent));
    }
    return read.get(figure);
  };

  const save = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };

  const csv = (columns) => {
    const cell = (value) => {
      const text = value === null || value === undefined ? "" : String(value);
      return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const head = Object.keys(columns);
    const lines = rows(columns).map((row) => head.map((name) => cell(row[name])).join(","));
    return [head.map(cell).join(","), ...lines, ""].join("\n");
  };

  const buttons = (figure, view, chart) => {
    const bar = document.createElement("p");
    bar.className = "tools";
    const add = (text, what) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", what);
      bar.append(button);
    };
    if (JSON.stringify(chart.spec).includes('"bind":"scales"')) {
      const inner = /^zoom_(x|y|modify|tuple.*|translate_.*|zoom_.*)$/; // not domains
      add("reset zoom", () => {
        for (const signal of Object.keys(view.getState({ signals: () => true }).signals)) {
          if (signal.startsWith("zoom_") && !inner.test(signal)) view.signal(signal, null);
        }
        view.runAsync();
      });
    }
    add("svg", async () => save(`${chart.name}.svg`, "image/svg+xml", await view.toSVG()));
    add("csv", () => save(`${chart.name}.csv`, "text/csv", csv(chart.columns)));
    figure.append(bar);
  };

  // One after the other, so that the first appears before the last is begun.
  let last = Promise.resolve();
  const queue = (figure) => {
    if (drawn.has(figure)) return;
    last = last.then(() => draw(figure)).then(() => new Promise((next) => setTimeout(next)));
  };

  // A printer waits for promises that are kept by then, and for no timer: none is between charts.
  const drawAll = () => figures.reduce((done, one) => done.then(() => draw(one)), Promise.resolve());

  const draw = async (figure) => {
    if (drawn.has(figure)) return;
    drawn.set(figure, null);
    const chart = described(figure);
    const plot = figure.querySelector(".plot");
    const spec = { ...chart.spec, data: { name: "rows", values: rows(chart.columns) } };
    const { view } = await vegaEmbed(plot, spec, {
      actions: false, ast: true, renderer: "svg", config: look, mode: "vega-lite",
      tooltip: { theme: "page" },
    });
    drawn.set(figure, { view, chart });
    plot.style.minHeight = "";
    for (const signal of chart.linked) share(view, signal);
    const on = switched.get(chart.series);
    if (on && chart.series in chart.columns) view.signal("shown", on);
    await view.runAsync();
    buttons(figure, view, chart);
    window.flashgcCharts[chart.name] = view;
  };

  // A chart all of whose names are switched off disappears.
  const hide = (figure) => {
    const { series, names } = described(figure);
    const on = switched.get(series);
    figure.hidden = Boolean(on && names.length && !names.some((name) => on.includes(name)));
  };

  const legend = (group) => {
    const series = group.dataset.series;
    const all = [...group.querySelectorAll("button")];
    const update = () => {
      const on = all.filter((one) => one.ariaPressed === "true").map((one) => one.value);
      switched.set(series, on);
      setTimeout(() => window.dispatchEvent(new Event("resize"))); // for those that reappear
      for (const figure of figures) hide(figure);
      for (const one of drawn.values()) {
        const has = one && one.chart.series === series && series in one.chart.columns;
        if (has) one.view.signal("shown", on).runAsync();
      }
    };
    for (const button of all) {
      button.addEventListener("click", () => {
        button.ariaPressed = button.ariaPressed === "true" ? "false" : "true";
        update();
      });
      button.addEventListener("dblclick", () => {
        for (const other of all) other.ariaPressed = other === button ? "true" : "false";
        update();
      });
    }
  };

  const figures = [...document.querySelectorAll("figure.chart")];
  for (const group of document.querySelectorAll(".legend[data-series]")) legend(group);
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) queue(entry.target);
  }, { rootMargin: "800px" });
  for (const figure of figures) seen.observe(figure);
  window.addEventListener("beforeprint", drawAll);
})();
