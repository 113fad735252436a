// @ts-check
/** A log scale to slide a guess along: a plain slider of the browser, with a name and a value in words.
 * @param {{model: any, el: HTMLElement}} given */
function render({ model, el }) {
  const range = document.createElement("input"), get = (/** @type {string} */ name) => model.get(name);
  Object.assign(range, { type: "range", step: "0.02", min: Math.log10(get("low")), max: Math.log10(get("high")) });
  range.setAttribute("aria-label", get("label"));
  range.dataset.lmSuppressShortcuts = "true"; // JupyterLab takes arrows for itself otherwise
  range.style.cssText = "width: 24em; max-width: 100%; height: 28px; margin: 0 8px; accent-color: var(--jp-brand-color1)";
  const show = () => {
    range.value = String(Math.log10(get("value")));
    range.disabled = get("disabled");
    range.setAttribute("aria-valuetext", get("text"));
  };
  range.addEventListener("input", () => {
    model.set("value", 10 ** Number(range.value));
    model.save_changes();
  });
  model.on("change", show);
  show();
  el.append(range);
  return () => model.off("change", show);
}

export default { render };
