// @ts-check
/// <reference path="make.js" />
/**
 * The panel in the browser. The kernel says what to show (panel.py, state.py); this file draws it, as SVG that takes
 * its colours from panel.css, and sends back what the learner does. It computes no model and writes no unit.
 *
 * A slider shows its new value at once. At most one turn is on its way to the kernel; of those made meanwhile only the
 * newest of each knob is sent. Drawing waits for the next frame, and only what changed is drawn anew. Pictures and tables
 * are saved here, without the kernel and without the network.
 */

/** @typedef {{low: number, high: number, log: boolean, places: number[], texts: string[], label: string}} Axis */
/** @typedef {{name: string, label: string, help: string, folded: boolean, choices?: [string, string][],
 *    stops?: number[], texts?: string[]}} Knob */
/** @typedef {{text: string, why: string, off: boolean, stop?: number, choice?: string, stops?: number[],
 *    texts?: string[]}} Shown with stops where they are others than those of the plan */
/** @typedef {{kind: "measured" | "faded" | "published", x: number, y: number, low?: number, high?: number,
 *    text: string}} Mark */
/** @typedef {{x: Float32Array | number[], y: Float32Array | number[], texts: string[]}} Line */
/** @typedef {(value: number) => number} Scale */

const REST_MS = 700; // a sentence that stands so long is spoken
const SLOW_MS = 100, LOST_MS = 8000; // without an answer: the kernel is busy; it may be gone
const CALM_MS = 500; // so long a note stands at least, so that it does not flicker
const NEAR_PX = 14; // a mark so near to the pointer is meant

const SHOWN = ["axes", "line", "now", "marks", "pinned", "reads", "status", "error", "numbers", "knobs"];

/** @param {DataView | undefined} bytes */
const floats = (bytes) =>
  new Float32Array(bytes?.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) ?? new ArrayBuffer(0));

/** Return the way from a value to a pixel.
 * @param {Axis} axis @param {number} from @param {number} to @returns {Scale} */
function scale(axis, from, to) {
  const bent = axis.log ? Math.log10 : (/** @type {number} */ value) => value;
  const low = bent(axis.low), high = bent(axis.high);
  return (value) => from + ((bent(value) - low) / (high - low)) * (to - from);
}

/** Return the curve's value at x, straight between its points on log axes. @param {Line} line @param {number} x */
function between(line, x) {
  const after = line.x.findIndex((/** @type {number} */ one) => one >= x);
  if (after <= 0) return line.y[after < 0 ? line.y.length - 1 : 0];
  const share = Math.log(x / line.x[after - 1]) / Math.log(line.x[after] / line.x[after - 1]);
  return line.y[after - 1] * (line.y[after] / line.y[after - 1]) ** share;
}

/** Draw an x axis with its grid; words that would touch are left out, and none reaches over the end.
 * @param {Axis} axis @param {Scale} at @param {number} top @param {number} bottom @param {boolean} worded */
function xAxis(axis, at, top, bottom, worded = true) {
  const group = make("svg:g");
  let free = -Infinity;
  axis.places.forEach((place, number) => {
    const x = at(place), half = axis.texts[number].length * 3.8, middle = Math.min(x, at(axis.high) + 9 - half);
    group.append(make("svg:line", { class: "ra-grid", x1: x, x2: x, y1: top, y2: bottom }));
    if (!worded || middle - half < free) return;
    group.append(make("svg:text", { x: middle, y: bottom + 17, "text-anchor": "middle" }, axis.texts[number]));
    free = middle + half + 8;
  });
  return group;
}

/** @param {Axis} axis @param {Scale} at @param {number} left @param {number} right */
function yAxis(axis, at, left, right) {
  const group = make("svg:g");
  axis.places.forEach((place, number) => {
    const y = at(place);
    group.append(make("svg:line", { class: "ra-grid", x1: left, x2: right, y1: y, y2: y }));
    group.append(make("svg:text", { x: left - 7, y: y + 4, "text-anchor": "end" }, axis.texts[number]));
  });
  return group;
}

const STAR = Array.from({ length: 10 }, (_, corner) => {
  const radius = corner % 2 ? 4 : 10, angle = (corner * Math.PI) / 5;
  return `${(radius * Math.sin(angle)).toFixed(1)},${(-radius * Math.cos(angle)).toFixed(1)}`;
}).join(" ");

/** Return one sign of the chart, around 0, 0. @param {string} kind @returns {SVGElement} */
function sign(kind) {
  if (kind === "model") return make("svg:line", { class: "ra-line", x1: -11, x2: 11 });
  if (kind === "pinned") return make("svg:line", { class: "ra-pinned", x1: -11, x2: 11 });
  if (kind === "here") return make("svg:path", { class: "ra-here", d: "M0-10L10 0L0 10L-10 0Z" });
  if (kind === "published") return make("svg:polygon", { class: "ra-published", points: STAR });
  if (kind === "faded") return make("svg:circle", { class: "ra-measured", r: 5 });
  return make("svg:circle", { class: "ra-measured readahead-dot-measured", r: 7 });
}
const LEGEND = {
  model: "model", here: "you are here", pinned: "A, pinned", measured: "DuckDB", faded: "DuckDB, other settings", published: "published",
};

/** The throughput along one knob: the model's line, the marks, and where we are. */
class Curve {
  /** @param {(event: PointerEvent | null, text: string) => void} tip */
  constructor(tip) {
    this.tip = tip;
    this.title = make("h3");
    this.legend = make("ul", { class: "readahead-legend" });
    this.svg = make("svg:svg", { role: "img", "aria-label": "The throughput along one knob." }); // out of sight it waits
    this.element = make("div", {}, this.title, this.legend, this.svg);
    this.svg.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.hover(event));
    this.svg.addEventListener("pointerleave", () => this.leave());
    this.path = make("svg:path", { class: "ra-line readahead-line" });
    this.other = make("svg:path", { class: "ra-pinned" });
    this.letters = make("svg:g", { class: "ra-letters" });
    this.guide = make("svg:line", { class: "ra-guide" });
    this.ring = make("svg:g", { class: "readahead-here" }, sign("here"));
    this.spot = make("svg:circle", { class: "ra-hovered", r: 0 });
    /** @type {any} */ this.drawn = {};
  }

  /** @param {any} state @param {Line} line with the present value in it @param {number} width */
  draw(state, line, width) {
    const { axes, marks, now, pinned } = state, old = this.drawn, framed = axes !== old.axes || width !== old.width;
    const height = Math.round(Math.min(430, Math.max(270, width * 0.68)));
    const left = 82, right = width - 16, top = 10, bottom = height - 42;
    const x = scale(axes.x, left, right), y = scale(axes.y, bottom, top);
    if (line !== old.line) this.leave(); // what it said was of another line
    if (framed) {
      const words = `${axes.y.label} along ${axes.x.label}. The sentence and the table below say the same.`;
      this.title.replaceChildren(make("b", {}, axes.y.label));
      set(this.svg, { width, height, "aria-label": words });
      const middle = { x: (left + right) / 2, y: height - 3, "text-anchor": "middle", "font-weight": 600 };
      this.frame = make("svg:g", {}, yAxis(axes.y, y, left, right), xAxis(axes.x, x, top, bottom),
        make("svg:path", { class: "ra-edge", d: `M${left} ${top}V${bottom}H${right}` }),
        make("svg:text", middle, axes.x.label));
    }
    if (framed || marks !== old.marks || pinned !== old.pinned) {
      const kinds = new Set(["model", "here", pinned.line ? "pinned" : "", ...marks.map((/** @type {Mark} */ mark) => mark.kind)]);
      const shown = Object.entries(LEGEND).filter(([kind]) => kinds.has(kind));
      this.legend.replaceChildren(...shown.map(([kind, name]) => {
        const place = { width: 24, height: 22, viewBox: "-12 -11 24 22", "aria-hidden": "true" };
        return make("li", {}, make("svg:svg", { ...place, class: `ra-${kind}-key` }, sign(kind)), name);
      }));
      this.group = make("svg:g", {}, ...marks.map((/** @type {Mark} */ mark) => this.mark(mark, x, y)));
      this.svg.replaceChildren(
        this.frame, this.guide, this.other, this.path, this.group, this.ring, this.letters, this.spot);
    }
    /** @param {Line["x"]} xs @param {Line["y"]} ys */
    const through = (xs, ys) =>
      `M${Array.from(xs, (value, n) => `${x(value).toFixed(1)} ${y(ys[n]).toFixed(1)}`).join("L")}`;
    set(this.path, { d: through(line.x, line.y) });
    const beside = pinned.line, letter = (/** @type {string} */ name, /** @type {any} */ at) =>
      make("svg:text", { x: x(at.x) + 12, y: y(at.y) - 8 }, name);
    set(this.other, { d: beside ? through(floats(beside.x), floats(beside.y)) : "" });
    this.letters.replaceChildren(...(beside
      ? [make("svg:circle", { class: "ra-pinned", cx: x(pinned.x), cy: y(pinned.y), r: 8 }), letter("A", pinned), letter("B", now)]
      : []));
    set(this.ring, { transform: `translate(${x(now.x).toFixed(1)} ${y(now.y).toFixed(1)})` });
    set(this.guide, { x1: x(now.x), x2: x(now.x), y1: top, y2: bottom });
    this.drawn = { axes, marks, pinned, width, line, x, y };
  }

  /** @param {Mark} mark @param {Scale} x @param {Scale} y */
  mark(mark, x, y) {
    const group = make("svg:g", { class: mark.kind === "faded" ? "ra-faded" : "" });
    if (mark.low !== undefined && mark.high !== undefined) {
      const at = x(mark.x), low = y(mark.low), high = y(mark.high);
      const bar = `M${at} ${low}V${high}M${at - 4} ${low}h8M${at - 4} ${high}h8`;
      group.append(make("svg:path", { class: "ra-interval", d: bar }));
    }
    group.append(make("svg:g", { transform: `translate(${x(mark.x)} ${y(mark.y)})` }, sign(mark.kind)));
    return group;
  }

  leave() {
    set(this.spot, { r: 0 });
    this.tip(null, "");
  }

  /** Say what the model expects where the pointer is, what was measured there and what was published.
   * @param {PointerEvent} event */
  hover(event) {
    const { x, y, line, marks } = this.drawn, box = this.svg.getBoundingClientRect();
    if (!line) return;
    const here = event.clientX - box.left;
    const far = Array.from(line.x, (/** @type {number} */ value) => Math.abs(x(value) - here));
    const nearest = far.indexOf(Math.min(...far));
    set(this.spot, { cx: x(line.x[nearest]), cy: y(line.y[nearest]), r: 5 });
    /** @param {Mark} mark */
    const away = (mark) => Math.abs(y(mark.y) - (event.clientY - box.top));
    const near = /** @type {Mark[]} */ (marks).filter((mark) => Math.abs(x(mark.x) - here) < NEAR_PX)
      .sort((one, other) => away(one) - away(other));
    const found = [near.find((mark) => mark.kind === "measured") ?? near.find((mark) => mark.kind === "faded"),
      near.find((mark) => mark.kind === "published")];
    const said = [`Model: ${line.texts[nearest]}`, ...found.map((mark) => mark?.text ?? "")];
    this.tip(event, said.filter(Boolean).join("\n\n"));
  }
}

/** Where the time goes: the terms of the model's time, what is hidden behind them, and the measured time. */
class Terms {
  /** @param {(event: PointerEvent | null, text: string) => void} tip @param {boolean} modeled */
  constructor(tip, modeled) {
    this.tip = tip;
    this.rows = ["model", "meanwhile", ...(modeled ? [] : ["DuckDB"])];
    this.title = make("h3");
    const words = "The terms of the predicted time; the table below has them.";
    this.svg = make("svg:svg", { role: "img", "aria-label": words });
    this.element = make("div", {}, this.title, this.svg);
  }

  /** @param {any} state @param {number} width */
  draw(state, width) {
    const { axes, now } = state, { rows } = this, left = 82, right = width - 10, step = 28, high = 24;
    const bottom = rows.length * step, at = scale(axes.terms, left, right);
    this.title.replaceChildren(make("b", {}, "Where the time goes"), `: ${now.terms_heading}`);
    set(this.svg, { width, height: bottom + 24 });
    const bars = now.terms.map((/** @type {any} */ term) => {
      const x = at(term.start), wide = Math.max(1, at(term.start + term.length) - x);
      const y = rows.indexOf(term.row) * step + 2;
      const said = `${term.name} ${term.text}`, fits = [said, term.name].find((one) => one.length * 7.2 < wide - 4);
      const style = `--ra-colour: var(--ra-${term.row === "DuckDB" ? "measured" : term.colour})`;
      const kind = term.row === "meanwhile" ? "ra-term ra-hidden" : "ra-term";
      const hovered = {
        onpointermove: (/** @type {PointerEvent} */ event) => this.tip(event, `${term.row}: ${said}`),
        onpointerleave: () => this.tip(null, ""),
      };
      return make("svg:g", hovered,
        make("svg:rect", { class: kind, style, x, y, width: wide, height: high, "pointer-events": "all" }),
        make("svg:text", { x: x + wide / 2, y: y + 17, "text-anchor": "middle" }, fits ?? ""));
    });
    const names = rows.map((row, number) =>
      make("svg:text", { x: left - 7, y: number * step + 19, "text-anchor": "end" }, row));
    const edge = make("svg:path", { class: "ra-edge", d: `M${left} 0V${bottom}H${right}` });
    this.svg.replaceChildren(xAxis(axes.terms, at, 0, bottom), edge, ...names, ...bars);
  }
}

/** The reads of the newest measurement: when and where each was, and how many were under way. */
class Reads {
  constructor() {
    this.title = make("h3");
    this.svg = make("svg:svg", { role: "img", "aria-label": "The reads of the newest measurement, over time." });
    this.element = make("div", { class: "readahead-reads" }, this.title, this.svg);
    /** @type {any} */ this.drawn = {};
  }

  /** @param {any} state @param {number} width @param {number} height */
  draw(state, width, height) {
    const [head, ...rest] = state.now.reads_heading.split(":");
    this.title.replaceChildren(make("b", {}, head), `:${rest.join(":")}`);
    const { reads } = state, old = this.drawn;
    if (old.reads === reads && old.width === width && old.height === height) return;
    this.drawn = { reads, width, height };
    const left = 82, right = width - 10, bottom = height - 22, middle = bottom - 66;
    set(this.svg, { width, height });
    const corners = `M${left} 4V${middle}H${right}M${left} ${middle + 16}V${bottom}H${right}`;
    const edges = make("svg:path", { class: "ra-edge", d: corners });
    if (!reads.count) return this.svg.replaceChildren(edges);
    const { count } = reads, rows = floats(reads.dashes);
    const [asked, done, place, colour] = [0, 1, 2, 3].map((n) => rows.subarray(n * count, (n + 1) * count));
    const x = scale(reads.x, left, right), y = scale(reads.y, middle - 4, 8);
    const paths = Array.from({ length: 8 }, () => /** @type {string[]} */ ([]));
    asked.forEach((start, n) => {
      const from = x(start), to = Math.max(x(done[n]), from + 0.7);
      paths[colour[n]].push(`M${from.toFixed(1)} ${y(place[n]).toFixed(1)}H${to.toFixed(1)}`);
    });
    const thick = count > 400 ? 1.2 : count > 60 ? 2.5 : 5;
    const dashes = paths.map((path, n) => make("svg:path",
      { class: "ra-read", style: `--ra-colour: var(--ra-c${n})`, d: path.join(""), "stroke-width": thick }));
    const flight = floats(reads.flight), steps = flight.length / 2;
    const deep = (/** @type {number} */ depth) => bottom - (depth / reads.deepest) * (bottom - middle - 20);
    const stairs = Array.from(flight.subarray(0, steps), (time, n) =>
      `H${x(time).toFixed(1)}V${deep(flight[steps + n]).toFixed(1)}`);
    this.svg.replaceChildren(
      xAxis(reads.x, x, 4, middle, false), yAxis(reads.y, y, left, right), xAxis(reads.x, x, middle + 16, bottom),
      ...dashes, make("svg:path", { class: "ra-flight", d: `M${x(0)} ${bottom}${stairs.join("")}V${bottom}Z` }), edges,
      make("svg:text", { x: left - 7, y: middle + 24, "text-anchor": "end" }, `${reads.deepest}`),
      make("svg:text", { x: left - 7, y: bottom, "text-anchor": "end" }, "in flight"));
  }
}

/** The turns on their way to the kernel: one at a time, the newest of each knob. */
class Turns {
  /** @param {any} model @param {(note: string) => void} say */
  constructor(model, say) {
    this.model = model;
    this.say = say;
    this.me = Math.random().toString(36).slice(2);
    this.count = 0;
    /** @type {{name: string, id: string} | null} */ this.flying = null;
    /** @type {Map<string, object>} */ this.waiting = new Map();
    /** @type {any[]} */ this.clocks = [];
    /** @type {any} */ this.calm = 0;
  }

  /** @param {string} name */
  pending(name) { return this.flying?.name === name || this.waiting.has(name); }

  /** @param {string} name @param {object} value */
  turn(name, value) {
    this.waiting.delete(name); // so that it stands last
    this.waiting.set(name, value);
    this.next();
  }

  next() {
    if (this.flying || !this.waiting.size) return;
    const [name, value] = /** @type {[string, object]} */ (this.waiting.entries().next().value);
    this.waiting.delete(name);
    this.flying = { name, id: `${this.me}-${++this.count}` };
    const after = (/** @type {number} */ delay, /** @type {string} */ note) => setTimeout(() => {
      clearTimeout(this.calm);
      this.say(note);
    }, delay);
    this.clocks = [after(SLOW_MS, "waiting for the kernel …"),
      after(LOST_MS, "The kernel does not answer. It may be busy with another cell; if it was restarted, run this cell again.")];
    this.send({ turn: name, ...value, id: this.flying.id });
  }

  /** @param {object} said */
  send(said) {
    try { this.model.send(said); } catch { this.say("There is no kernel. Run this cell to move the sliders."); }
  }

  heard() {
    if (!this.flying || this.model.get("answered") !== this.flying.id) return;
    this.close();
    this.flying = null;
    this.calm = setTimeout(this.say, CALM_MS, "");
    this.next();
  }

  close() { [...this.clocks, this.calm].forEach(clearTimeout); }
}

/** Make one knob's control. @param {Knob} knob @param {(value: object, stop?: number) => void} turned */
function control(knob, turned) {
  const id = `ra-${Math.random().toString(36).slice(2)}`;
  const why = make("span", { class: "readahead-why", id: `${id}-why` });
  const label = make("label", { for: id, title: knob.help || knob.label }, knob.label);
  const ours = { "data-lm-suppress-shortcuts": "true" }; // JupyterLab takes arrows and Enter for itself otherwise
  const common = { ...ours, id, "aria-describedby": `${id}-why` };
  const kind = knob.choices ? "readahead-choice" : "readahead-number";
  const element = make("div", { class: `readahead-knob readahead-knob-${knob.name} ${kind}` }, label);
  if (knob.choices) {
    const menu = make("select", { ...common, onchange: () => turned({ choice: menu.value }) },
      ...knob.choices.map(([value, text]) => make("option", { value }, text)));
    element.append(menu, why);
    return { element, show: (/** @type {Shown} */ shown) => {
      menu.value = shown.choice;
      menu.disabled = shown.off;
      why.textContent = shown.why;
    } };
  }
  let { stops = [], texts = [] } = knob;
  let typing = false;
  const range = make("input", { ...common, type: "range", min: 0, max: stops.length - 1, step: 1, oninput: () => {
    const stop = Number(range.value);
    text.value = texts[stop];
    range.setAttribute("aria-valuetext", texts[stop]);
    turned({ stop }, stops[stop]);
  } });
  const taken = () => {
    if (typing) turned({ text: text.value });
    typing = false;
  };
  const text = make("input", {
    ...ours, type: "text", "aria-label": `${knob.label}, type a value`, title: "Type a value and press Enter",
    autocomplete: "off", spellcheck: "false", oninput: () => { typing = true; }, onchange: taken,
    onkeydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter") taken(); },
  });
  element.append(range, text, why);
  return { element, show: (/** @type {Shown} */ shown) => {
    if (shown.stops && shown.texts) ({ stops, texts } = shown);
    range.max = String(stops.length - 1);
    range.value = String(shown.stop);
    range.setAttribute("aria-valuetext", shown.text);
    if (!typing) text.value = shown.text;
    range.disabled = text.disabled = shown.off;
    why.textContent = shown.why;
  } };
}

/** @param {{model: any, el: HTMLElement}} given */
function render({ model, el }) {
  const get = (/** @type {string} */ name) => model.get(name);
  const tipBox = make("div", { class: "readahead-tip", "aria-hidden": "true" });
  const tip = (/** @type {PointerEvent | null} */ event, /** @type {string} */ text) => {
    tipBox.textContent = text;
    if (!event) return;
    const { offsetWidth: wide, offsetHeight: high } = tipBox;
    tipBox.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - wide - 8))}px`;
    tipBox.style.top = `${event.clientY + 18 + high > innerHeight ? event.clientY - high - 10 : event.clientY + 18}px`;
  };

  // -- what stands where
  const note = make("span", { class: "readahead-note", role: "status" });
  const bar = make("progress", { max: 1, "aria-label": "Measuring" });
  let slow = "";
  const link = new Turns(model, (said) => { slow = said; soon(); });
  /** @param {string} order @param {string} name @param {string} title */
  const button = (order, name, title, clicked = () => link.turn(order, { do: order })) =>
    make("button", { type: "button", class: `readahead-${order}`, title, onclick: clicked }, name);
  const measure = button("measure", "Measure", "Run the query in DuckDB now");
  const cancel = button("cancel", "Cancel", "Stop measuring", () => link.send({ do: "cancel" }));
  const auto = make("input", { type: "checkbox", onchange: () => link.send({ auto: auto.checked }) });
  const errors = make("div", { class: "readahead-errors" }), sentence = make("p", { class: "readahead-sentence" });
  const spoken = make("div", { class: "readahead-spoken", "aria-live": "polite" });
  const numbers = make("div", { class: "readahead-numbers" }), compared = make("p", { class: "readahead-compared" });
  const pin = button("pin", "Pin as A", "Keep these settings, to compare with others");
  const swap = button("swap", "Swap A and B", "Go back to the settings of A, and pin those of B");
  const file = () => `${get("plan").topic}-${get("now").knob}`;
  const png = button("png", "Save picture", "Save the chart as PNG", () =>
    picture(curve.element, [get("now").sentence, get("pinned").words ?? ""]).then((made) => save(made, `${file()}.png`)));
  const csv = button("csv", "Save data", "Save what the chart shows as CSV", () =>
    save(new Blob([rows(get, line)], { type: "text/csv" }), `${file()}.csv`));
  const place = make("input", { type: "text", readonly: "", "data-lm-suppress-shortcuts": "true",
    "aria-label": "Address of these settings", onfocus: () => place.select() });
  const copy = button("copy", "Copy address", 'A text to hand on: lesson.explore("…") opens these settings', () => {
    place.select();
    navigator.clipboard?.writeText(place.value);
  });
  const curve = new Curve(tip), terms = new Terms(tip, get("plan").modeled_only), reads = new Reads();
  /** @type {{x: number, y: number} | null} */ let local = null;
  const knobs = /** @type {Knob[]} */ (get("plan").knobs).map((knob) => ({ knob, ...control(knob, (value, at) => {
    if (at !== undefined && knob.name === get("now").knob) local = { x: at, y: between(line, at) };
    link.turn(knob.name, value);
    soon();
  }) }));
  const of = (/** @type {boolean} */ folded, /** @type {boolean} */ choice) => knobs
    .filter(({ knob }) => knob.folded === folded && Boolean(knob.choices) === choice)
    .map(({ element }) => element);
  const folded = [...of(true, true), ...of(true, false)];
  const fold = (/** @type {string} */ title, /** @type {Node} */ body, toggled = (/** @type {any} */ _) => {}) =>
    make("details", { ontoggle: toggled }, make("summary", {}, title), body);
  const right = make("div", {}, terms.element, reads.element);
  const root = make("div", { class: "readahead-panel", role: "group", "aria-label": get("plan").title },
    make("div", { class: "readahead-row" }, ...of(false, true)),
    make("div", { class: "readahead-grid readahead-sliders" }, ...of(false, false)),
    make("div", { class: "readahead-row readahead-status" }, measure,
      make("label", { class: "readahead-auto" }, auto, "when a slider rests"), cancel, bar, note),
    errors,
    make("div", { class: "readahead-charts" }, curve.element, right), sentence, compared, spoken,
    make("div", { class: "readahead-row readahead-tools" }, pin, swap, png, csv,
      make("span", { class: "readahead-address" }, place, copy)),
    ...(folded.length ? [fold("More knobs", make("div", { class: "readahead-grid" }, ...folded))] : []),
    fold("The numbers", numbers, (/** @type {any} */ event) => link.send({ unfolded: event.target.open })), tipBox);
  el.append(root);

  // -- drawing, at most once a frame
  /** @type {Line} */ let line = { x: [], y: [], texts: [] };
  /** @type {any} */ let seen = {}, frame = 0, rest = 0, wide = 0, narrow = 0, high = 0;
  const soon = () => { frame ||= requestAnimationFrame(draw); };
  // Not at every frame: while Lab changes its theme there are other widths for a moment, and to ask costs a layout.
  const size = () => {
    [wide, narrow] = [curve.element.clientWidth, right.clientWidth];
    const beside = right.offsetTop === curve.element.offsetTop; // then both columns end at the same height
    high = beside ? curve.element.offsetHeight - terms.element.offsetHeight - reads.title.offsetHeight - 20 : 0;
  };
  function draw() {
    frame = 0;
    if (!wide) size();
    const state = Object.fromEntries(SHOWN.map((name) => [name, get(name)]));
    if (state.line !== seen.line || state.now !== seen.now) line = whole(state.line, state.now);
    if (local && link.pending(state.now.knob)) state.now = { ...state.now, ...local };
    else local = null;
    for (const { knob, show } of knobs) if (!link.pending(knob.name)) show(state.knobs[knob.name]);
    const wanted = get("auto"); // what was ticked meanwhile stands until the kernel says otherwise
    if (wanted !== seen.auto) auto.checked = wanted;
    const { status } = state;
    note.textContent = slow || status.note || "";
    bar.value = status.share ?? 0;
    bar.hidden = cancel.disabled = typeof status.share !== "number";
    if (state.error !== seen.error) errors.innerHTML = state.error;
    if (state.numbers !== seen.numbers) numbers.innerHTML = state.numbers;
    const words = state.pinned.words ?? "";
    if (sentence.textContent !== state.now.sentence || compared.textContent !== words) {
      sentence.textContent = state.now.sentence;
      compared.textContent = words;
      clearTimeout(rest);
      rest = setTimeout(() => { spoken.textContent = `${state.now.sentence} ${words}`.trim(); }, REST_MS);
    }
    pin.textContent = words ? "Let go of A" : "Pin as A";
    swap.hidden = !words;
    place.value = state.now.address;
    if (wide) curve.draw(state, line, wide);
    if (narrow && (state.now.terms !== seen.now?.terms || narrow !== seen.narrow)) terms.draw(state, narrow);
    if (narrow) reads.draw(state, narrow, Math.max(240, high));
    seen = { ...state, narrow, auto: wanted };
  }

  const lost = () => { slow = "The kernel was restarted or is gone. Run this cell again."; soon(); };
  const heard = () => { link.heard(); soon(); };
  model.on("change", heard);
  model.on("comm_live_update", lost);
  const sized = new ResizeObserver(() => { size(); soon(); });
  [root, curve.element, terms.element, reads.title].forEach((part) => sized.observe(part));
  soon();
  return () => {
    model.off("change", heard);
    model.off("comm_live_update", lost);
    sized.disconnect();
    link.close();
    clearTimeout(rest);
    cancelAnimationFrame(frame);
  };
}

/** Let the reader keep something as a file. @param {Blob} what @param {string} name */
function save(what, name) {
  const href = URL.createObjectURL(what);
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** Return what the chart shows as CSV, in SI units. @param {(name: string) => any} get @param {Line} line */
function rows(get, line) {
  const now = get("now"), { line: beside } = get("pinned");
  /** @param {string} source @param {Line["x"]} xs @param {Line["y"]} ys */
  const through = (source, xs, ys) => Array.from(xs, (x, n) => [source, x, ys[n]]);
  const table = [["source", now.knob, now.unit, "low", "high", "words"], ...through("model", line.x, line.y),
    ...(beside ? through("A", floats(beside.x), floats(beside.y)) : []),
    ...get("marks").map((/** @type {Mark} */ mark) =>
      [mark.kind === "faded" ? "measured elsewhere" : mark.kind, mark.x, mark.y, mark.low, mark.high, mark.text])];
  const cell = (/** @type {any} */ value) => typeof value === "number" ? Number(value.toPrecision(7))
    : /[",\n]/.test(value ?? "") ? `"${value.replaceAll('"', '""').replaceAll("\n", "; ")}"` : value ?? "";
  return `${table.map((row) => row.map(cell).join(",")).join("\n")}\n`;
}

const INKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "paint-order"];

/** Return a drawing as it looks here, without the style sheet. @param {SVGElement} svg @param {DOMRect} around */
function standalone(svg, around) {
  const copy = /** @type {SVGElement} */ (svg.cloneNode(true)), parts = copy.querySelectorAll("*");
  svg.querySelectorAll("*").forEach((part, n) => {
    const looks = getComputedStyle(part);
    set(parts[n], { style: INKS.map((ink) => `${ink}:${looks.getPropertyValue(ink)}`).join(";") });
  });
  const at = svg.getBoundingClientRect();
  set(copy, { x: at.left - around.left, y: at.top - around.top, width: at.width, height: at.height,
    overflow: "visible", opacity: getComputedStyle(svg).opacity });
  return copy;
}

/** Return a chart with its title, its legend and what is said below it as a PNG.
 * @param {HTMLElement} chart @param {string[]} said @returns {Promise<Blob>} */
async function picture(chart, said) {
  const around = chart.getBoundingClientRect(), air = 16;
  const { backgroundColor, color, fontFamily } = getComputedStyle(/** @type {Element} */ (chart.closest(".readahead-panel")));
  const row = new RegExp(`\\S.{0,${Math.max(30, Math.floor(around.width / 7.4))}}(?=\\s|$)`, "g");
  const lines = said.flatMap((text) => text.match(row) ?? []), width = Math.ceil(around.width) + 2 * air;
  const height = Math.ceil(around.height) + 19 * lines.length + 12 + 2 * air;
  const names = [...chart.querySelectorAll("h3, li")].map((one) => {
    const range = document.createRange();
    range.selectNodeContents(/** @type {Node} */ (one.lastChild));
    const at = range.getBoundingClientRect();
    return make("svg:text", { x: at.left - around.left, y: at.bottom - around.top - 4 }, one.textContent ?? "");
  });
  const whole = make("svg:svg", { width, height, viewBox: `${-air} ${-air} ${width} ${height}`,
    style: `font: 13px ${fontFamily}; fill: ${color}` },
    make("svg:rect", { x: -air, y: -air, width, height, style: `fill: ${backgroundColor}` }), ...names,
    ...Array.from(chart.querySelectorAll("svg"), (svg) => standalone(svg, around)),
    ...lines.map((line, n) => make("svg:text", { x: 0, y: around.height + 24 + 19 * n }, line)));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(whole))}`;
  await image.decode();
  const canvas = make("canvas", { width: 2 * width, height: 2 * height }), pen = canvas.getContext("2d");
  pen.scale(2, 2);
  pen.drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Put the present value into the curve. @param {any} sent @param {any} now @returns {Line} */
function whole(sent, now) {
  const x = floats(sent.x), y = floats(sent.y), after = x.findIndex((one) => one > now.x);
  const at = after < 0 ? x.length : after;
  /** @param {any} row @param {any} value */
  const put = (row, value) => [...row.slice(0, at), value, ...row.slice(at)];
  return { x: put(x, now.x), y: put(y, now.y), texts: put(sent.texts, now.text) };
}

export default { render };
