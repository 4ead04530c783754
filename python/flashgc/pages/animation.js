"use strict";

/** Simulated ns in a second of the reader: some 2 s to 2000 s for the whole recording. */
function filmSpeeds(whole_ns) {
  const steps = [];
  for (let unit = 1; unit <= 1e12; unit *= 10) steps.push(unit, 2 * unit, 5 * unit);
  const fits = steps.filter((ns) => ns <= whole_ns / 2 && ns >= whole_ns / 2000);
  return fits.length ? fits.reverse() : [1];
}

/** Pictures in a second of the reader, where each event takes as long as the others. */
const PACES = [1, 4, 16];
const WHOLE_S = 40;

function filmButton(words, name, does) {
  return element("button", { type: "button", class: name, onclick: does }, words);
}

/** A recording with a clock, buttons and its drive. */
class Animation {
  constructor(title, film) {
    Object.assign(this, { title, film, is_playing: false, drawn_ms: 0 });
    const { times } = film;
    [this.from_ns, this.to_ns] = [times[0], Math.max(times.at(-1), times[0] + 1)];
    this.now_ns = this.from_ns;
    this.view = new DriveView(0);
    this.element = element("div", { class: "animation" }, this.controls(), this.happened(), this.view.element, this.colours());
    this.key = playerKeys(this.element, this.keys());
    this.show(0);
  }

  controls() {
    this.play = filmButton("Play", "play", () => (this.is_playing ? this.stop() : this.start()));
    const first = filmButton("Start again", "again", () => this.leap(0));
    const back = filmButton("Back", "back", () => this.step(-1));
    const next = filmButton("Step", "step", () => this.step(1));
    this.speed = element("select", { class: "speed", onchange: () => (this.last_ms = null) },
      ...filmSpeeds(this.to_ns - this.from_ns).map((ns) => element("option", { value: `ns ${ns}` }, `${time(ns)} a second`)),
      ...PACES.map((pace) => element("option", { value: `pace ${pace}` }, `${plural(pace, "event")} a second`)));
    this.speed.value = this.usual();
    this.slider = element("input", { type: "range", class: "time", min: 0, max: 10_000, step: 1, "aria-label": "Time", oninput: () => this.slide() });
    this.clock = element("p", { class: "clock" });
    return element("div", { class: "player", role: "group", "aria-label": "Clock" }, this.play, back, next, first,
      element("label", {}, "Speed ", this.speed), this.clock, this.slider);
  }

  /** The speed at which the whole takes about as long as a reader has. */
  usual() {
    const whole_ns = this.to_ns - this.from_ns;
    const found = [...this.speed.options].find(({ value }) => {
      const [kind, ns] = value.split(" ");
      return kind === "ns" && whole_ns / Number(ns) >= WHOLE_S / 2;
    });
    return found?.value ?? "pace 4";
  }

  happened() {
    this.told = element("p", { class: "happened", role: "status" });
    this.counted = element("p", { class: "counted" });
    return element("div", {}, this.told, this.counted);
  }

  colours() {
    const [works, blocks] = [element("ul", { class: "names" }), element("ul", { class: "names" })];
    const folded = element("details", {}, element("summary", {}, "Colours"), works, blocks);
    driveLegends(folded, works, blocks);
    return folded;
  }

  keys() {
    return {
      " ": () => (this.is_playing ? this.stop() : this.start()),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.leap(0),
      End: () => this.leap(this.film.times.length - 1),
    };
  }

  start() {
    if (this.film.number === this.film.times.length - 1) this.leap(0);
    this.is_playing = true;
    this.last_ms = null;
    this.play.textContent = "Pause";
    this.told.setAttribute("aria-live", "off");
    requestAnimationFrame((ms) => this.frame(ms));
  }

  stop() {
    this.is_playing = false;
    this.play.textContent = "Play";
    this.told.setAttribute("aria-live", "polite");
    this.show(this.film.number, true);
  }

  frame(ms) {
    if (!this.is_playing) return;
    const passed_s = this.last_ms === null ? 0 : Math.min((ms - this.last_ms) / 1000, 0.25);
    this.last_ms = ms;
    const [kind, rate] = this.speed.value.split(" ");
    const last = this.film.times.length - 1;
    let number = this.film.number;
    if (kind === "ns") {
      this.now_ns = Math.min(this.now_ns + passed_s * Number(rate), this.to_ns);
      number = this.film.numberAt(this.now_ns);
    } else {
      this.due = (this.due ?? 0) + passed_s * Number(rate);
      number = Math.min(number + Math.floor(this.due), last);
      this.due %= 1;
      if (number !== this.film.number) this.now_ns = this.film.times[number];
    }
    this.show(number);
    if (number === last && this.now_ns >= this.film.times[last]) this.stop();
    else requestAnimationFrame((later_ms) => this.frame(later_ms));
  }

  step(by) {
    if (this.is_playing) this.stop();
    this.leap(Math.min(Math.max(this.film.number + by, 0), this.film.times.length - 1));
  }

  /** Goes to a picture. */
  leap(number) {
    this.now_ns = this.film.times[number];
    this.show(number);
  }

  slide() {
    this.now_ns = this.from_ns + (Number(this.slider.value) / 10_000) * (this.to_ns - this.from_ns);
    this.show(this.film.numberAt(this.now_ns));
  }

  show(number, again = false) {
    const { film } = this;
    if (number !== film.number || again || !this.view.picture) {
      const is_next = number === film.number + 1;
      const picture = film.go(number);
      this.view.show(this.title, picture, film.head);
      const has_news = number > 0 && (is_next || !this.is_playing);
      this.told.textContent = has_news ? newsWords(film.news) : this.opening(number);
      const [requests, programs, copies, erases] = film.counts();
      this.counted.textContent = `Since the first picture: ${plural(requests, "request")} done, ${plural(programs, "page")} programmed for the host, ` +
        `${plural(copies, "page")} copied, ${plural(erases, "block")} erased.`;
    }
    this.clock.textContent = `${clock(this.now_ns)}, event ${count(number)} of ${count(film.times.length - 1)}`;
    this.slider.value = Math.round((10_000 * (this.now_ns - this.from_ns)) / (this.to_ns - this.from_ns));
    this.slider.setAttribute("aria-valuetext", `${clock(this.now_ns)} of drive time`);
  }

  opening(number) {
    return number ? "" : "The drive at the beginning of the recording.";
  }
}

/** What has changed, in words: the new work of some units, or what came to their queues. */
function newsWords(news) {
  const told = news.map(([before, unit]) => unitNews(before, unit)).filter(Boolean);
  const more = told.length > 3 ? `; and ${plural(told.length - 3, "other unit")}` : "";
  const words = told.slice(0, 3).join("; ");
  return words ? `${words[0].toUpperCase()}${words.slice(1)}${more}.` : "";
}

function unitNews(before, unit) {
  const name = `Unit ${unit.number}`;
  const is_new = unit.work !== before.work || (unit.work !== "idle" && unit.since_ns !== before.since_ns);
  if (is_new && unit.work === "idle") return `${name} has nothing to do`;
  const where = unit.place === "bus" ? ": its bus is in use" : unit.place === "array" ? ": its array works" : "";
  if (is_new || unit.place !== before.place) return `${name} ${WORKS[unit.work][0]}${where}`;
  if (unit.queue.length > before.queue.length) {
    const more = unit.queue.length - before.queue.length;
    return more === 1 ? `one more page operation waits at unit ${unit.number}` : `${count(more)} more page operations wait at unit ${unit.number}`;
  }
  if (unit.collection && !before.collection) return `${name} begins a collection of ${plural(unit.collection.left, "valid page")}`;
  if (!unit.collection && before.collection) return `${name} has ended its collection`;
  return "";
}

/** The animation of a recording. */
async function animated(title, head, packed) {
  return new Animation(title, new Film(head, await unpacked(packed)));
}
