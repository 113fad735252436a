// @ts-check
/// <reference path="../panels/make.js" />
/**
 * Guesses, answers and exercises of a page without a kernel. What a reader writes stays in this browser.
 *
 * Without this script everything is in sight. It draws a curtain over each answer, and over the claims, figures and
 * sweeps that tell it, until a guess is kept. `?open` in the address and the button open them all; print shows everything.
 */

/** @typedef {{choices: string[], units: Record<string, number>, sure: string[]}} Asked */
/** @typedef {{truth: number, word: string | null, whom: string}} Truth */
/** @typedef {{text: string, value: number | string, because: string, sure: string}} Guess */
/** @typedef {{kind: string, asks: string, options: string[], units: Record<string, number>, tolerance: number,
 *   right: any, ideas: [any, string][]}} Exercise */
/** @typedef {{shown: HTMLElement, value: () => any, text: () => any, fill: (text: any) => void}} Field  its value is
 *   undefined before there is one; its text is what is kept */

const PREFIX = "readahead/", TOPIC = document.body.dataset.topic ?? "";

/** @param {string} name @returns {any} what was kept under a name, or null */
function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name) ?? "null");
  } catch {
    return null; // somebody edited it, or this browser stores nothing here
  }
}

/** @param {string} name @param {any} value @returns {string} what to say if it will not be there tomorrow */
function keep(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
    return "";
  } catch {
    return " This browser stores nothing for this page: it is forgotten when you leave.";
  }
}

/** @param {Element} place @returns {any} what the notebook says of it */
const facts = (place) => JSON.parse(place.getAttribute("data-facts") ?? "{}");

// -- fields ------------------------------------------------------------------------------------------------------
let sets = 0;

/** One or several of a list. @param {string} label @param {string[]} options @param {boolean} many @returns {Field} */
function pick(label, options, many) {
  const type = many ? "checkbox" : "radio", name = `set${(sets += 1)}`;
  const inputs = options.map((option) => make("input", { type, name, value: option }));
  const picked = () => inputs.filter((one) => one.checked).map((one) => one.value);
  const text = () => (many ? picked() : picked()[0]);
  return {
    shown: make("fieldset", {}, make("legend", {}, label), ...inputs.map((one, at) => make("label", {}, one, ` ${options[at]}`))),
    text, value: () => (picked().length ? text() : undefined),
    fill: (words) => inputs.forEach((one) => { one.checked = many ? words.includes(one.value) : words === one.value; }),
  };
}

/** A list to be put in order. @param {string} label @param {string[]} options @returns {Field} */
function order(label, options) {
  const lists = options.map((_, at) => make("select", { "aria-label": `Place ${at + 1}` },
    make("option", { value: "" }, "choose …"), ...options.map((option) => make("option", {}, option))));
  const text = () => lists.map((one) => one.value);
  return {
    shown: make("fieldset", {}, make("legend", {}, label), make("ol", {}, ...lists.map((one) => make("li", {}, one)))),
    text, value: () => (new Set(text()).size === options.length && !text().includes("") ? text() : undefined),
    fill: (words) => lists.forEach((one, at) => { one.value = words[at]; }),
  };
}

/** A number and its unit. @param {string} label @param {Record<string, number>} units @returns {Field} */
function amount(label, units) {
  const number = make("input", { type: "number", step: "any", inputmode: "decimal" });
  const unit = make("select", { "aria-label": `${label}: unit` }, ...Object.keys(units).map((word) => make("option", {}, word)));
  const named = Object.keys(units).length > 1 ? unit : unit.value;
  return {
    shown: make("p", {}, make("label", {}, `${label} `, number), " ", named),
    text: () => [number.value, unit.value],
    value: () => (number.value === "" ? undefined : Number(number.value) * units[unit.value]),
    fill: ([was, word]) => { number.value = was; unit.value = word; },
  };
}

// -- a guess and its answer --------------------------------------------------------------------------------------
/** @param {number} factor @returns {string} as the notebook says it */
function apart(factor) {
  if (!(factor > 0)) return "not comparable";
  if (factor > 1 / 1.05 && factor < 1.05) return "right on";
  const off = Number((factor > 1 ? factor : 1 / factor).toPrecision(2)).toLocaleString("en");
  return `${off}× ${factor > 1 ? "high" : "low"}`;
}

/** Ask for a guess. @param {Element} place @param {(guess: Guess | null) => void} open shows the answer */
function ask(place, open) {
  /** @type {Asked} */
  const { choices, units, sure } = facts(place);
  const name = `${TOPIC}/guess/${place.getAttribute("data-predict")}`, before = kept(name);
  const field = choices.length ? pick("My guess", choices, false) : amount("My guess", units);
  const because = make("input", { maxlength: 300 });
  const how = make("select", {}, make("option", { value: "" }, "choose …"), ...sure.map((word) => make("option", {}, word)));
  const said = make("p", { role: "status" });
  const form = make("form", { onsubmit: submit }, field.shown,
    make("label", { class: "wide" }, "Because ", because), make("label", {}, "How sure ", how),
    make("p", { class: "buttons" }, make("button", {}, "Keep my guess"),
      make("button", { type: "button", class: "quiet", onclick: () => open(null) }, "Show it without a guess")), said);

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const value = field.value();
    if (value === undefined || value <= 0) {
      said.textContent = "Give a guess first, above 0 if it is a number. A rough one is worth more than none.";
      return;
    }
    const guess = { text: [field.text()].flat().join(" ").trim(), given: field.text(), value, because: because.value.trim(), sure: how.value };
    said.textContent = `Kept. Now see what happened, below.${keep(name, guess)}`;
    close(guess);
  }

  /** @param {Guess} guess */
  function close(guess) {
    for (const one of form.querySelectorAll("input, select, button")) one.disabled = true;
    open(guess);
  }

  place.append(form);
  if (before) {
    field.fill(before.given);
    because.value = before.because;
    how.value = before.sure;
    said.textContent = "Your guess stands, since the answer was shown.";
    close(before);
  }
}

/** Say above an answer what became of the guess. @param {Element} place @param {Guess} guess */
function compare(place, guess) {
  /** @type {Truth} */
  const { truth, word, whom } = facts(place);
  const held = typeof guess.value === "number" ? apart(guess.value / truth) : guess.value === word ? "right" : "not so";
  const sure = guess.sure ? ` You were: ${guess.sure}.` : "", why = guess.because ? ` Your reason: ${guess.because}` : "";
  place.prepend(make("p", {}, make("strong", {}, `Your guess, ${guess.text}, was ${held}`), ` against ${whom}.${sure}${why}`));
}

/** Hide something until it is opened. @param {Element} place @param {string} words @returns {() => void} opens it */
function curtain(place, words) {
  const waits = make("p", { class: "waits" }, words);
  place.classList.add("hidden");
  place.before(waits);
  return () => {
    waits.remove();
    place.classList.remove("hidden");
  };
}

for (const place of document.querySelectorAll("[data-predict]")) {
  const name = place.getAttribute("data-predict"), answer = document.querySelector(`[data-reveal="${name}"]`);
  if (!answer) continue;
  const after = [...document.querySelectorAll("[data-reveal], [data-claim], [data-figure], [data-sweep]")];
  const [, ...rest] = after.slice(after.indexOf(answer)), end = rest.findIndex((one) => one.matches("[data-reveal]"));
  const openers = [curtain(answer, "The answer is shown here once your guess is kept, above.")];
  for (const one of end < 0 ? rest : rest.slice(0, end)) openers.push(curtain(one, "This is shown after your guess, above."));
  ask(place, (guess) => {
    openers.splice(0).forEach((open) => open());
    if (guess) compare(answer, guess);
  });
}

// -- an exercise -------------------------------------------------------------------------------------------------
/** @param {Exercise} asked @param {any} one @param {any} other @returns {boolean} whether two answers mean the same */
function same({ kind, tolerance }, one, other) {
  if (kind !== "Amount") return kind === "Several" ? String([...one].sort()) === String([...other].sort()) : String(one) === String(other);
  if (one === other) return true;
  return one * other > 0 ? Math.max(one / other, other / one) <= (1 + tolerance) * (1 + 1e-9) : Math.abs(one - other) <= 1e-12;
}

/** @param {Exercise} asked @param {any} given @returns {string} what is wrong, without the right answer */
function wrong({ kind, right }, given) {
  if (kind === "Amount") return `That is too ${given > right ? "high" : "low"}.`;
  if (kind === "Choice") return `Not “${given}”.`;
  if (kind === "Order") return `Place ${given.findIndex((/** @type {string} */ one, /** @type {number} */ at) => one !== right[at]) + 1} is not right.`;
  const extra = given.find((/** @type {string} */ one) => !right.includes(one));
  return extra ? `“${extra}” does not belong.` : `All you picked belong; ${right.length - given.length} missing.`;
}

for (const place of document.querySelectorAll("[data-exercise]")) {
  /** @type {Exercise} */
  const asked = facts(place);
  const name = `${TOPIC}/answer/${place.getAttribute("data-exercise")}`, before = kept(name);
  const make_field = { Amount: () => amount("Answer", asked.units), Choice: () => pick(asked.asks, asked.options, false),
    Several: () => pick(asked.asks, asked.options, true), Order: () => order(asked.asks, asked.options) };
  const field = make_field[/** @type {"Amount"} */ (asked.kind)]();
  const [hints, solution] = [...place.querySelectorAll(":scope > details")];
  const ladder = [...hints.querySelectorAll("li")], said = make("div", { role: "status" });
  for (const one of [hints, ...ladder, ...place.querySelectorAll(":scope > ul")]) one.classList.add("hidden");
  const hint = make("button", { type: "button", class: "quiet", onclick: () => {
    for (const one of [hints, ...ladder.splice(0, 1)]) one.classList.remove("hidden");
    hints.setAttribute("open", "");
    hint.disabled = !ladder.length;
  } }, "Hint");

  const check = () => {
    const given = field.value();
    if (given === undefined) {
      said.textContent = "Answer first.";
      return;
    }
    const right = same(asked, given, asked.right), idea = asked.ideas.find(([example]) => same(asked, given, example));
    const told = right ? "Right." : `Wrong. ${wrong(asked, given)}`;
    said.replaceChildren(make("p", { class: right ? "right" : "wrong" }, `${right ? "✓" : "✗"} ${told}${keep(name, field.text())}`));
    if (right) solution.setAttribute("open", "");
    else if (idea) said.insertAdjacentHTML("beforeend", idea[1]);
  };
  place.prepend(make("form", { onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); check(); } },
    field.shown, make("p", { class: "buttons" }, make("button", {}, "Check"), hint), said));
  if (before) {
    field.fill(before);
    check();
  }
}

// -- the whole page ----------------------------------------------------------------------------------------------
const opens = document.getElementById("open");

/** @param {boolean} yes */
function openAll(yes) {
  document.documentElement.classList.toggle("open", yes);
  if (yes) for (const fold of document.querySelectorAll("main details")) fold.setAttribute("open", "");
  if (opens) opens.textContent = yes ? "Close what I have not answered" : "Open everything";
}
opens?.addEventListener("click", () => openAll(!document.documentElement.classList.contains("open")));
openAll(new URLSearchParams(location.search).has("open"));

document.getElementById("forget")?.addEventListener("click", () => {
  for (const name of Object.keys(localStorage)) if (name.startsWith(`${PREFIX}${TOPIC}/`)) localStorage.removeItem(name);
  location.reload();
});

/** What is too wide scrolls in its box, by keyboard too. */
function boxes() {
  for (const box of document.querySelectorAll(".scroll, pre")) {
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}
addEventListener("resize", boxes);
boxes();
