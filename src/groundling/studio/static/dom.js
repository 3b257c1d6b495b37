// Creates elements without HTML strings, so that user input is always text.
import { actionName, t, thingName } from "./strings.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "value" && "value" in element) element.value = value;
    else if (name === "checked") element.checked = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

/** Create an HTML element. */
export const h = (tag, properties, ...children) =>
  fill(document.createElement(tag), properties, children);

/** Create an SVG element. */
export const s = (tag, properties, ...children) =>
  fill(document.createElementNS(SVG, tag), properties, children);

/** Parse the server's sanitised SVG into an element; null if it is not SVG. */
export function adopt(text) {
  const found = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (found.localName !== "svg" || found.namespaceURI !== SVG) return null;
  for (const each of found.querySelectorAll("text")) if (!each.children.length) each.textContent = thingName(each.textContent);
  for (const each of found.querySelectorAll("title")) each.textContent = actionName(thingName(each.textContent));
  return document.importNode(found, true);
}

/** Announce a text to screen readers. */
export function announce(text) {
  const live = document.getElementById("live");
  live.textContent = "";
  setTimeout(() => { live.textContent = text; }, 30);
}

let hiding = 0;

/** Show a message. */
export function tell(text, kind = "problem") {
  const toast = document.getElementById("toast");
  toast.className = kind;
  toast.replaceChildren(
    h("p", {}, text),
    h("button", { type: "button", class: "quiet", onclick: hush }, t("close")),
  );
  toast.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(hush, kind === "problem" ? 10000 : 4000);
}

/** Hide the message. */
export function hush() { document.getElementById("toast").hidden = true; }

/** Run a function and show its error, if any. */
export async function trying(work) {
  try {
    return await work();
  } catch (error) {
    tell(error.message);
    return undefined;
  }
}

export const percent = (share) => `${Math.round(100 * share)} %`;
export const signed = (number, digits = 2) =>
  `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(digits)}`;

/** A bar for a value between 0 and 1. */
export function bar(share, label) {
  const inner = h("span", { class: "bar-fill" });
  inner.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h("span", { class: "bar", role: "img", "aria-label": label ?? percent(share) }, inner);
}

/** Return a readable name of a label; `place~` is the place that the text names. */
function label(name) {
  const [, steps] = name.match(/^plan\.length=(\d+)$/) ?? [];
  if (steps) return t("steps", steps);
  const [, relation] = name.match(/^relation=(\w+)/) ?? [];
  if (relation) return { self: t("sameThing"), next: t("nextStep"), previous: t("previousStep") }[relation] ?? t("relation", relation);
  const plain = name.replace(/^(\w+)[:.]/, "");
  return plain.endsWith("~") ? t("sameValue", plain.slice(0, -1).replace(/^.*:/, "")) : plain.replace(/^(\w+)=(.+)$/, "$2 ($1)").replace("=", " ");
}

/** Return a readable word: ‹place› stands for the names of all places. */
export const readableWord = (word) => (/^‹.+›$/.test(word) ? t("anyValue", word.slice(1, -1)) : t("quoted", word));

/** Return a readable feature name. */
export function readable(feature) {
  const [first, ...rest] = feature.split(" ∧ ");
  const said = rest.map(label).join(" + ");
  const [, word] = first.match(/^word=(.+)$/) ?? [];
  if (word) return t("goesWith", readableWord(word), said || "…");
  if (/^dep(=|$)/.test(first)) return t("goesWith", t("structure", t(first.slice(4) || "dep")), said);
  return [first, ...rest].map(label).join(" + ");
}

/** A diverging bar chart of weights. */
export function sides(rows, name) {
  const most = Math.max(0.01, ...rows.map((each) => Math.abs(each.value)));
  return h("ul", { class: "sides", "aria-label": name }, rows.map((each) => {
    const inner = h("span", { class: each.value < 0 ? "against" : "for" });
    inner.style.width = `${(50 * Math.abs(each.value)) / most}%`;
    return h("li", {},
      h("span", { class: "sides-bar", "aria-hidden": "true" }, inner),
      h("span", { class: "number" }, signed(each.value)),
      h("span", {}, readable(each.name)));
  }));
}
