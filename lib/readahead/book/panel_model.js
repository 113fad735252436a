// @ts-check
/**
 * The panel in a page without a kernel. `TableModel` takes the kernel's part: it answers the messages of panel.js, which
 * stands above this file on the page, from the table that table.py made. At a stop of the sliders all numbers are the
 * model's own.
 */

/** @typedef {{x: number[], y: string, marks: object[]}} Curves along one slider, one for each combination of the others */
/** @typedef {{choices: Record<string, string>, own: Record<string, number>, fixed: [string, any][], unit: string,
 *    sliders: string[], stops: number[][], lines: Curves[], terms: string[], hidden: string[], seconds: string,
 *    idle: Record<string, string>[], idle_at: number[], leads: Record<string, any>}} Block */
/** @typedef {{block: number, values: Record<string, number>}} Place where the sliders stand */

/** Write a quantity for people, as units.text does. @param {Record<string, Record<string, number>>} scales */
const writer = (scales) => (/** @type {number} */ value, /** @type {string} */ kind, digits = 3) => {
  const size = Math.abs(value);
  const words = Object.entries(scales[kind]).sort((one, other) => other[1] - one[1]);
  const own = words.find(([, scale]) => scale === 1), prefixed = kind !== "rows_per_s" || size < 1 || size >= 10_000;
  const [word, scale] = (own && (value === 0 || !prefixed) ? own : undefined)
    ?? words.find(([, one]) => size >= one * (1 - 1e-12)) ?? words[value === 0 ? 0 : words.length - 1];
  const whole = (["rows", "count"].includes(kind) && Number.isInteger(value))
    || (word === "rows/s" && digits > 2 && size >= 1000);
  const number = whole ? grouped(rounded(value, String(Math.trunc(size)).length), 0) : short(value / scale, digits);
  return word === "×" ? `${number}×` : `${number} ${word}`.trim();
};

/** Round to so many digits; what lies just between goes to the even one, as in Python.
 * @param {number} value @param {number} digits */
function rounded(value, digits) {
  const [, mantissa, power] = /** @type {RegExpMatchArray} */ (value.toExponential(60).match(/^(.*)e(.*)$/));
  const kept = mantissa.replace("-", "").replace(".", "").slice(0, digits), rest = mantissa.replace(/[-.]/g, "").slice(digits);
  const even = /^50*$/.test(rest) && Number(kept.at(-1)) % 2 === 0;
  return even ? Math.sign(value) * Number(`${kept}e${Number(power) - digits + 1}`) : Number(value.toPrecision(digits));
}

/** @param {number} value @param {number} places */
const grouped = (value, places) => value.toFixed(places).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",");

/** @param {number} value @param {number} digits */
function short(value, digits) {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const power = Number(value.toExponential(60).split("e")[1]), places = Math.max(0, digits - 1 - power);
  const text = grouped(rounded(value, digits), places);
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

/** @param {string} text of base64 @returns {Float32Array} */
const numbers = (text) => new Float32Array(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer);

/** @param {string} text */
const safe = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** @param {string[]} head @param {string[][]} lines */
const tableHtml = (head, lines) => `<table><thead><tr>${head.map((one) => `<th scope="col">${safe(one)}</th>`).join("")}</tr></thead>
  <tbody>${lines.map(([first, ...rest]) =>
    `<tr><th scope="row">${safe(first)}</th>${rest.map((one) => `<td>${safe(one)}</td>`).join("")}</tr>`).join("")}</tbody></table>`;

class TableModel {
  /** @param {any} table */
  constructor(table) {
    this.table = table;
    this.text = writer(table.scales);
    /** @type {Record<string, any>} */ this.knobs = Object.fromEntries(table.plan.knobs.map((/** @type {any} */ one) => [one.name, one]));
    /** @type {Place} */ this.place = { block: 0, values: { ...table.blocks[0].own } };
    this.along = this.block.sliders[0];
    /** @type {Place | null} */ this.pinned = null;
    this.unfolded = false;
    /** @type {Map<string, Float32Array>} */ this.read = new Map();
    /** @type {Set<() => void>} */ this.listeners = new Set();
    /** @type {Record<string, any>} */ this.traits = {
      plan: table.plan, reads: {}, status: { note: "", share: null }, error: "", numbers: "", auto: false, answered: "" };
    this.draw();
  }

  // -- as panel.js knows it
  /** @param {string} name */
  get(name) { return this.traits[name]; }

  /** @param {string} event @param {() => void} listener */
  on(event, listener) { if (event === "change") this.listeners.add(listener); }

  /** @param {string} _event @param {() => void} listener */
  off(_event, listener) { this.listeners.delete(listener); }

  /** Do what a message of panel.js says. @param {any} said */
  send(said) {
    if ("choice" in said) this.choose(said.turn, said.choice);
    else if ("stop" in said) this.turn(said.turn, said.stop);
    else if (said.do === "pin") this.pinned = this.pinned ? null : this.place;
    else if (said.do === "swap" && this.pinned) [this.place, this.pinned] = [this.pinned, this.place];
    if ("unfolded" in said) this.unfolded = said.unfolded;
    if (said.id) this.traits.answered = said.id;
    this.draw();
    this.listeners.forEach((listener) => listener());
  }

  // -- where the sliders stand
  /** @returns {Block} */
  get block() { return this.table.blocks[this.place.block]; }

  /** @param {string} name @param {string} key */
  choose(name, key) { this.enter(this.block.leads[name][key]); }

  /** @param {string} name @param {number} stop */
  turn(name, stop) {
    const value = this.stops(name)[stop];
    if (name in this.block.leads) this.enter(this.block.leads[name]);
    this.place = { block: this.place.block, values: { ...this.place.values, [name]: value } };
    this.along = name;
  }

  /** Go to another block. A slider that a choice sets follows it; others stay, at the nearest stop.
   * @param {number} to */
  enter(to) {
    const from = this.block, block = /** @type {Block} */ (this.table.blocks[to]);
    const values = Object.fromEntries(Object.entries(block.own).map(([name, own]) => {
      const stops = block.stops[block.sliders.indexOf(name)] ?? [own], wanted = this.place.values[name];
      const away = stops.map((stop) => Math.abs(Math.log(stop / wanted)));
      return [name, own === from.own[name] ? stops[away.indexOf(Math.min(...away))] : own];
    }));
    this.place = { block: to, values };
  }

  /** Return the stops of a slider, of the block that it leads to. @param {string} name @returns {number[]} */
  stops(name) {
    const block = typeof this.block.leads[name] === "number" ? this.table.blocks[this.block.leads[name]] : this.block;
    return block.stops[block.sliders.indexOf(name)] ?? [block.own[name]];
  }

  /** Return the number of a combination of stops, of all sliders or of all but one.
   * @param {Place} place @param {string} [but] */
  node({ block, values }, but) {
    const { sliders, stops } = /** @type {Block} */ (this.table.blocks[block]);
    return sliders.reduce((sum, name, n) => name === but ? sum : sum * stops[n].length + stops[n].indexOf(values[name]), 0);
  }

  /** @param {string} key @param {string} text @returns {Float32Array} */
  row(key, text) {
    if (!this.read.has(key)) this.read.set(key, numbers(text));
    return /** @type {Float32Array} */ (this.read.get(key));
  }

  /** Return what the model says at a place, with the curve along one slider. @param {Place} place @param {string} along */
  at(place, along) {
    const block = /** @type {Block} */ (this.table.blocks[place.block]), number = block.sliders.indexOf(along);
    const lines = block.lines[number], many = lines.x.length, node = this.node(place);
    const ys = this.row(`${place.block} ${along}`, lines.y).subarray(this.node(place, along) * many).subarray(0, many);
    const names = [...block.terms, ...block.hidden], all = this.row(`${place.block}`, block.seconds);
    const seconds = all.subarray(node * names.length, (node + 1) * names.length);
    const terms = block.terms.map((name, n) => ({ name, seconds: seconds[n] }));
    const hidden = block.hidden.map((name, n) => ({ name, seconds: seconds[block.terms.length + n] }));
    const whole = terms.reduce((sum, term) => sum + term.seconds, 0);
    const most = terms.reduce((one, other) => other.seconds > one.seconds ? other : one);
    const x = place.values[along], y = ys[lines.x.indexOf(x)];
    return { block, along, x, y, xs: lines.x, ys, marks: lines.marks, terms, hidden, seconds: whole, most, node };
  }

  // -- what panel.js shows
  draw() {
    const reasons = this.reasons(this.place);
    if (!this.block.sliders.includes(this.along) || reasons[this.along])
      this.along = this.block.sliders.find((name) => !reasons[name]) ?? this.block.sliders[0];
    const here = this.at(this.place, this.along), a = this.pinned;
    const can = a && this.table.blocks[a.block].unit === here.block.unit && this.table.blocks[a.block].sliders.includes(this.along);
    const beside = a && can ? this.at(a, this.along) : null;
    const words = a ? this.comparison(a, this.place) : "";
    Object.assign(this.traits, {
      knobs: this.shown(reasons),
      line: this.line(here),
      marks: here.marks,
      axes: this.axes(here, beside),
      now: this.now(here),
      pinned: a ? { words, ...(beside ? { x: beside.x, y: beside.y, line: { x: new Float32Array(beside.xs), y: beside.ys.slice() } } : {}) } : {},
      numbers: this.unfolded ? this.numbers(here) : this.traits.numbers,
    });
  }

  /** Return why sliders and choices do nothing, by name. @param {Place} place @returns {Record<string, string>} */
  reasons(place) {
    const { idle, idle_at: at } = /** @type {Block} */ (this.table.blocks[place.block]);
    return idle[at.length ? at[this.node(place)] : 0];
  }

  /** @param {Record<string, string>} reasons */
  shown(reasons) {
    const { choices, leads, sliders } = this.block;
    return Object.fromEntries(Object.keys(this.knobs).map((name) => {
      if (name in choices) return [name, { choice: choices[name], text: "", why: reasons[name] ?? "", off: Boolean(reasons[name]) }];
      const stops = this.stops(name), kind = this.table.kinds[name], value = this.place.values[name];
      const still = stops.length < 2 && !reasons[name] ? "In the book it stands still." : "";
      const off = Boolean(still) || (Boolean(reasons[name]) && typeof leads[name] !== "number");
      return [name, { stop: Math.max(0, stops.indexOf(value)), text: this.text(value, kind), why: reasons[name] ?? still, off,
        stops, texts: stops.map((stop) => this.text(stop, kind)) }];
    }));
  }

  /** @param {any} here */
  line({ xs, ys, x, block, along }) {
    const rest = xs.map((/** @type {number} */ _, /** @type {number} */ n) => n).filter((/** @type {number} */ n) => xs[n] !== x);
    const pick = (/** @type {any} */ row) => Float32Array.from(rest, (n) => row[n]);
    return { x: pick(xs), y: pick(ys),
      texts: rest.map((/** @type {number} */ n) => `${this.text(ys[n], block.unit)} at ${this.text(xs[n], this.table.kinds[along])}`) };
  }

  /** Return the axes: of the throughput and of the terms the narrowest that holds everything.
   * @param {any} here @param {any} beside */
  axes({ along, ys, marks, block, terms, hidden }, beside) {
    const every = [...ys, ...(beside?.ys ?? []), ...marks.map((/** @type {any} */ mark) => mark.y)];
    const low = Math.min(...every) / 1.3, high = Math.max(...every) * 1.3;
    const fits = this.table.y_axes[block.unit].find((/** @type {any} */ one) => one.low <= low * 1.001 && one.high * 1.001 >= high);
    const sum = (/** @type {any[]} */ row) => row.reduce((all, one) => all + one.seconds, 0);
    const whole = Math.max(sum(terms), sum(hidden));
    const { terms_axes: clocks, x_axes } = this.table;
    return { x: x_axes[along], y: fits, terms: clocks.find((/** @type {any} */ one) => one.high >= whole) ?? clocks.at(-1) };
  }

  /** @param {any} here */
  now(here) {
    const { block, along, x, y, seconds, most } = here, kind = this.table.kinds[along];
    const bars = (/** @type {string} */ row, /** @type {any[]} */ terms) => {
      let start = 0;
      return terms.filter((one) => one.seconds > 0).map(({ name, seconds: length }) => {
        start += length;
        return { row, name, colour: this.table.colours[name], start: start - length, length, text: this.text(length, "s") };
      });
    };
    return { knob: along, unit: block.unit, x, y, address: this.address(),
      text: `${this.text(y, block.unit)} at ${this.text(x, kind)}`, sentence: this.sentence(here),
      terms_heading: `model ${this.text(seconds, "s")}, mostly ${most.name}`,
      terms: [...bars("model", here.terms), ...bars("meanwhile", here.hidden)], reads_heading: "" };
  }

  /** @param {any} here */
  sentence({ block, along, x, y, ys, seconds, most }) {
    const { text } = this, swing = Math.max(...ys) / Math.min(...ys);
    const by = swing < 1.05 ? "next to nothing" : `the throughput ${text(swing, "times", 2)}`;
    return `${this.knobs[along].label} ${text(x, this.table.kinds[along])}: the model expects ${text(y, block.unit)}, that is ${
      text(seconds, "s")}, ${text(most.seconds / seconds, "1", 2)} of it ${most.name}. Along its whole range this knob alone changes ${by}.`;
  }

  /** Say what differs between two places, and what that does to the time. @param {Place} a @param {Place} b */
  comparison(a, b) {
    const [from, to] = [a, b].map((place) => ({ ...this.table.blocks[place.block].choices, ...place.values }));
    const said = (/** @type {string} */ name, /** @type {any} */ value) => this.knobs[name].choices
      ? Object.fromEntries(this.knobs[name].choices)[value] : this.text(value, this.table.kinds[name]);
    const turned = Object.keys(this.knobs).filter((name) => from[name] !== to[name])
      .map((name) => `${this.knobs[name].label} ${said(name, from[name])} → ${said(name, to[name])}`);
    if (!turned.length) return "A is pinned here. Turn a knob: what is shown then is B.";
    const [one, other] = [a, b].map((place) => this.at(place, this.table.blocks[place.block].sliders[0]));
    const ratio = other.seconds / one.seconds;
    const much = ratio < 1.02 && ratio > 1 / 1.02 ? "no difference that can be told"
      : ratio > 1 ? `B takes ${this.text(ratio, "times")} as long` : `B is ${this.text(1 / ratio, "times")} as fast`;
    const most = one.most.name === other.most.name ? "" : ` Most of the time was ${one.most.name} and is ${other.most.name}.`;
    return `From A to B: ${turned.join("; ")}. The model: ${this.text(one.seconds, "s")} → ${this.text(other.seconds, "s")}, ${much}.${most}`;
  }

  /** Return the address of the settings, for `lesson.explore`. */
  address() {
    const { choices, fixed } = this.block, all = { ...choices, ...this.place.values };
    const turned = [...Object.entries(all).filter(([name, value]) => value !== this.table.defaults[name]), ...fixed];
    const query = new URLSearchParams(turned.map(([name, value]) => [name, String(value)]));
    return turned.length ? `${this.table.plan.topic}?${query}` : this.table.plan.topic;
  }

  /** Return the tables: the sources, and the terms of the model's time. @param {any} here */
  numbers({ block, y, along, seconds, terms, hidden, marks }) {
    const { text } = this, kind = this.table.kinds[along];
    const share = (/** @type {any} */ one) => [one.name, text(one.seconds, "s"), text(one.seconds / seconds, "1", 2)];
    return tableHtml(["Source", "Throughput", "Time"], [["Model", text(y, block.unit), text(seconds, "s")],
      ...marks.map((/** @type {any} */ mark) => [`${mark.text.split("\n")[1]}, at ${text(mark.x, kind)}`, text(mark.y, block.unit), ""])])
      + tableHtml(["The model's terms", "Time", "Share"], [...terms.map(share),
        ...hidden.map((/** @type {any} */ one) => [`${one.name} (meanwhile)`, text(one.seconds, "s"), "hidden"])]);
  }
}

/** Set every panel of the page in motion; its printed twin stays for paper. */
function begin() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => { document.documentElement.dataset.jpThemeLight = String(!dark.matches); };
  dark.addEventListener("change", follow);
  follow();
  for (const live of document.querySelectorAll("[data-panel]:not(.readahead-moves) > .readahead-live")) {
    const table = JSON.parse(live.querySelector("script")?.textContent ?? "");
    render({ model: new TableModel(table), el: /** @type {HTMLElement} */ (live) });
    for (const field of live.querySelectorAll(".readahead-knob input[type=text]"))
      set(field, { readonly: "", title: "", tabindex: -1, "aria-hidden": true }); // the slider says the same
    live.parentElement?.classList.add("readahead-moves");
  }
}
