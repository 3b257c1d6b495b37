// An action as a graph: nodes with their labels, and how they are related.
import { h, s } from "./dom.js";

/** Draw a grounding graph; the first node stands on the left. */
export function graph({ nodes: given, edges }) {
  // A name may stand on a node twice, as text and as a label; people read it once.
  const nodes = given.map((each) => ({ ...each, labels: [...new Set(each.labels)] }));
  const tall = Math.max(...nodes.map((each) => 44 + 18 * each.labels.length));
  const [first, ...others] = nodes;
  const step = tall + 16;
  const height = Math.max(tall, others.length * step) + 10;
  const places = new Map([[first.name, [10, (height - size(first)) / 2]]]);
  others.forEach((each, rank) => places.set(each.name, [310, 5 + rank * step]));
  const lines = edges.filter((each) => places.has(each.from) && places.has(each.to)).map((each) => {
    const [x, y] = middle(each.from), [to, down] = middle(each.to);
    const from = each.from === first.name ? x + 90 : x - 90, end = each.to === first.name ? to + 90 : to - 90;
    return [s("path", { d: `M${from} ${y} C${(from + end) / 2} ${y} ${(from + end) / 2} ${down} ${end} ${down}` }),
      s("text", { x: (from + end) / 2, y: (y + down) / 2 - 6, "text-anchor": "middle", class: "relation" }, each.labels.join(", "))];
  });
  const boxes = nodes.map((each) => {
    const [x, y] = places.get(each.name);
    return s("g", { transform: `translate(${x} ${y})` },
      s("rect", { width: 180, height: size(each), rx: 8 }),
      s("text", { x: 14, y: 24, class: "token" }, each.name),
      each.labels.map((label, rank) => s("text", { x: 14, y: 46 + 18 * rank, class: "label" }, label)));
  });
  const told = nodes.map((each) => `${each.name}: ${each.labels.join(", ")}`).join("; ");
  return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Graph of the action" },
    s("svg", { class: "graph", width: 500, height, viewBox: `0 0 500 ${height}`, role: "img", "aria-label": told }, lines, boxes));

  function size(node) { return 40 + 18 * node.labels.length; }
  function middle(name) {
    const [x, y] = places.get(name);
    return [x + 90, y + size(nodes.find((each) => each.name === name)) / 2];
  }
}
