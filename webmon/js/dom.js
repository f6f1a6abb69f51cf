/**
 * Builds an element. Text only ever becomes a text node, so nothing that comes from a file can become markup.
 * Props: `class`, `style` (an object, set through the CSSOM because the page's policy forbids style attributes), and
 * attributes; `false`, `null` and `undefined` are left out.
 */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s(tag, props, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name === 'style') for (const [key, part] of Object.entries(value)) element.style.setProperty(key, String(part));
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(3)) {
    if (child === false || child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/**
 * Makes `from` look like `to` with the least change, so that focus, scrolling, opened details and what is being typed stay
 * through a refresh. Children with `data-key` are matched by it. What carries `data-keep` is left alone (charts).
 */
export function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || keyOf(from) !== keyOf(to)) {
    from.replaceWith(to);
    return;
  }
  if (from.nodeType === Node.TEXT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  if (to.dataset?.keep !== undefined && from.dataset?.keep === to.dataset.keep) return;
  morphAttributes(from, to);
  morphChildren(from, to);
}

function morphAttributes(from, to) {
  for (const { name } of [...from.attributes]) {
    if (name === 'style' || (name === 'open' && from.nodeName === 'DETAILS')) continue;
    if (!to.hasAttribute(name)) from.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) {
    if (name === 'style' || (name === 'open' && from.nodeName === 'DETAILS')) continue;
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  if (from.style.cssText !== to.style.cssText) from.style.cssText = to.style.cssText;
  if (from.nodeName === 'INPUT' && document.activeElement !== from && from.value !== to.value) from.value = to.value;
  if (from.nodeName === 'OPTION' && from.selected !== to.selected) from.selected = to.selected;
}

function morphChildren(from, to) {
  const keyed = new Map();
  for (const child of from.childNodes) if (keyOf(child) !== undefined) keyed.set(keyOf(child), child);
  let place = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const match = keyOf(wanted) === undefined ? place : keyed.get(keyOf(wanted));
    if (match === undefined || match === null) {
      from.insertBefore(wanted, place);
      continue;
    }
    if (match !== place) from.insertBefore(match, place);
    else place = place.nextSibling;
    morph(match, wanted);
  }
  while (place !== null) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.dataset?.key : undefined;
}
