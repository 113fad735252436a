// @ts-check
/** How every script of ours makes elements: it stands before panel.js, steps.js and book.js. */

/** Make an element; a name with `svg:` before it is one of a drawing.
 * @param {string} name @param {Record<string, any>} [facts] @param {...(Node | string)} children @returns {any} */
function make(name, facts = {}, ...children) {
  const made = name.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4))
    : document.createElement(name);
  set(made, facts);
  made.append(...children);
  return made;
}

/** Give an element attributes, and what to do `on` an event.
 * @param {Element} element @param {Record<string, any>} facts */
function set(element, facts) {
  for (const [key, value] of Object.entries(facts)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, String(value));
  }
}
