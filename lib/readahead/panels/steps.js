// @ts-check
/// <reference path="make.js" />
/**
 * A mechanism to play, step through and scrub. Every frame came with the plan; the kernel is asked for nothing.
 * Arrow keys step, Home and End go to the ends, Space plays; whoever asked for less motion steps and never plays.
 */

/** @typedef {[string, ...[string, string][]]} Lane  its name, then its boxes: text and state */
/** @typedef {{says: string, told: string, lanes: Lane[]}} Frame */

const EACH_MS = 1800; // a frame while it plays: time to read a sentence

/** Draw a frame's boxes; those that are not as they were in the one before are marked.
 * @param {Frame} frame @param {Frame} before */
function lanes(frame, before) {
  const were = new Map(before.lanes.map(([name, ...boxes]) => [name, boxes]));
  return frame.lanes.map(([name, ...boxes]) =>
    make("div", { class: "readahead-lane" }, make("span", {}, name),
      make("div", {}, ...boxes.map(([text, tone], at) => {
        const was = were.get(name)?.[at], same = was && was[0] === text && was[1] === tone;
        return make("span", { class: `readahead-box ra-tone-${tone} ${same ? "" : "ra-new"}` }, text);
      }))));
}

/** @param {{model: any, el: HTMLElement}} given */
function render({ model, el }) {
  /** @type {{title: string, words: Record<string, string>, frames: Frame[]}} */
  const { title, words, frames } = model.get("plan"), last = frames.length - 1;
  let at = 0, timer = 0;
  const stage = make("div", { role: "img" }), says = make("p", { class: "readahead-says" });
  const count = make("span", { class: "readahead-count" });
  const scrub = make("input", {
    type: "range", min: 0, max: last, "aria-label": `Step of: ${title}`, oninput: () => go(Number(scrub.value)),
  });
  const back = make("button", { onclick: () => go(at - 1) }, "Back");
  const next = make("button", { onclick: () => go(at + 1) }, "Next");
  const play = make("button", { class: "readahead-play", onclick: toggle }, "Play");

  function show() {
    stage.replaceChildren(...lanes(frames[at], frames[Math.max(0, at - 1)]));
    stage.setAttribute("aria-label", frames[at].told);
    says.setAttribute("aria-live", timer ? "off" : "polite"); // a voice would not keep up with a film
    says.textContent = frames[at].says;
    count.textContent = `${at + 1} of ${frames.length}`;
    scrub.value = String(at);
    scrub.setAttribute("aria-valuetext", `${at + 1} of ${frames.length}. ${frames[at].says}`);
    for (const [button, off] of [[back, at === 0], [next, at === last]]) button.setAttribute("aria-disabled", String(off));
    play.textContent = timer ? "Pause" : "Play";
  }
  function stop() {
    window.clearInterval(timer);
    timer = 0;
  }
  /** @param {number} to */
  function go(to) {
    stop();
    at = Math.max(0, Math.min(last, to));
    show();
  }
  function toggle() {
    const plays = timer > 0;
    stop();
    if (!plays && !window.matchMedia("(prefers-reduced-motion: reduce)").matches) {
      if (at === last) at = 0;
      timer = window.setInterval(() => {
        at += 1;
        if (at === last) stop();
        show();
      }, EACH_MS);
    }
    show();
  }
  /** @param {KeyboardEvent} event */
  function key(event) {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (to !== undefined) go(to);
    else if (event.key === " " && !(event.target instanceof HTMLButtonElement)) toggle();
    else return;
    event.preventDefault();
  }

  const key_list = Object.entries(words).map(([tone, word]) =>
    make("li", {}, make("span", { class: `readahead-box ra-tone-${tone}` }), word));
  const root = make("section", { class: "readahead-panel readahead-steps", "aria-label": title, onkeydown: key },
    make("h3", {}, make("b", {}, title)), make("ul", { class: "readahead-legend" }, ...key_list), stage, says,
    make("div", { class: "readahead-row" }, back, play, next, scrub, count,
      make("span", { class: "readahead-hint" }, "Or step with the arrow keys.")));
  root.dataset.lmSuppressShortcuts = "true"; // JupyterLab takes arrows for itself otherwise
  show();
  el.append(root);
  return stop;
}

export default { render };
