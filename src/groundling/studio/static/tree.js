// A sentence as a tree: words in a row, arcs from heads to what depends on them.
import { h, s } from "./dom.js";

const WORD = 10, GAP = 22, LEVEL = 26;

/** Draw dependency trees, one below the other. */
export function trees(all) {
  return h("div", { class: "trees" }, all.map(tree));
}

function tree({ words, heads, relations }) {
  const widths = words.map((each) => WORD * Math.max(3, [...each].length));
  const places = [];
  let x = 12;
  for (const width of widths) { places.push(x + width / 2); x += width + GAP; }
  const levels = heads.map((head, place) => (head < 0 ? 0 : height(heads, head, place)));
  const top = LEVEL * (Math.max(0, ...levels) + 1);
  const arcs = heads.flatMap((head, place) => {
    if (head < 0) return [s("path", { class: "root", d: `M${places[place]} 8 V${top - 6}`, "marker-end": "url(#tip)" })];
    const shift = head < place ? 5 : -5;
    const [from, to, up] = [places[head] + shift, places[place] - shift / 2, top - LEVEL * levels[place]];
    return [
      s("path", { d: `M${from} ${top - 4} V${up + 8} Q${from} ${up} ${from + (to > from ? 8 : -8)} ${up} H${to + (to > from ? -8 : 8)} Q${to} ${up} ${to} ${up + 8} V${top - 6}`, "marker-end": "url(#tip)" }),
      s("text", { x: (from + to) / 2, y: up - 4, "text-anchor": "middle", class: "relation" }, relations[place]),
    ];
  });
  const told = words.map((word, place) => (heads[place] < 0 ? `${word} is the root` : `${word} belongs to ${words[heads[place]]}`));
  return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Tree of the sentence" },
    s("svg", { class: "tree", width: x, height: top + 28, viewBox: `0 0 ${x} ${top + 28}`, role: "img", "aria-label": told.join("; ") },
      s("defs", {}, s("marker", { id: "tip", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" },
        s("path", { d: "M0 0 L8 4 L0 8 Z", class: "tip" }))),
      arcs, words.map((word, place) => s("text", { x: places[place], y: top + 16, "text-anchor": "middle", class: "token" }, word))));
}

/** How high an arc goes: above all that lie under it. */
function height(heads, one, two, depth = 0) {
  const [left, right] = [Math.min(one, two), Math.max(one, two)];
  let most = 0;
  if (depth < 60) {
    heads.forEach((head, place) => {
      if (head < 0) return;
      const [a, b] = [Math.min(head, place), Math.max(head, place)];
      if (a >= left && b <= right && !(a === left && b === right)) most = Math.max(most, height(heads, a, b, depth + 1));
    });
  }
  return most + 1;
}
