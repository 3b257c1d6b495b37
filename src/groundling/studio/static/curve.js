// How well it does, after each lesson: a small curve.
import { h, percent, s } from "./dom.js";

const WIDE = 320, HIGH = 120, LEFT = 40, TOP = 10, BOTTOM = 22;

/** Draw accuracy on demonstrations that were kept apart, or right first tries. */
export function curve(about) {
  const points = about.curve.filter((each) => each.accuracy !== null)
    .map((each) => ({ known: each.known, share: each.accuracy }));
  const tries = about.first_tries;
  if (points.length) {
    const now = points.at(-1).share;
    return figure(points, `${percent(now)} of ${about.apart} kept apart`,
      "accuracy on demonstrations kept apart");
  }
  if (tries.length >= 2) {
    let right = 0;
    const shares = tries.map((each, place) => ({ known: place + 1, share: (right += each) / (place + 1) }));
    return figure(shares, `${right} of ${tries.length} right at the first try`, "right at the first try");
  }
  return h("p", { class: "muted small" },
    "A curve appears here once there is something to measure: keep some demonstrations apart, or teach a few.");
}

function figure(points, now, name) {
  const first = points[0].known, last = Math.max(first + 1, ...points.map((each) => each.known));
  const least = Math.min(first, ...points.map((each) => each.known));
  const x = (each, place) => points.length > 1 && last === least
    ? LEFT + place : LEFT + ((WIDE - LEFT - 8) * (each.known - least)) / Math.max(1, last - least);
  const y = (each) => TOP + (HIGH - TOP - BOTTOM) * (1 - each.share);
  const lines = [0, 0.5, 1].flatMap((share) => [
    s("line", { x1: LEFT, x2: WIDE - 8, y1: y({ share }), y2: y({ share }), class: "grid" }),
    s("text", { x: LEFT - 6, y: y({ share }) + 4, "text-anchor": "end" }, percent(share)),
  ]);
  const path = points.map((each, place) => `${place ? "L" : "M"}${x(each, place).toFixed(1)} ${y(each).toFixed(1)}`);
  const dots = points.slice(-60).map((each, place) =>
    s("circle", { cx: x(each, place), cy: y(each), r: 2.5 }, s("title", {}, `${each.known}: ${percent(each.share)}`)));
  const newest = points.at(-1);
  return h("figure", { class: "curve" },
    s("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `${name}: ${now}` },
      lines, s("path", { d: path.join(" "), class: "line" }), dots,
      s("circle", { class: "now", cx: x(newest, points.length - 1), cy: y(newest), r: 4.5 }),
      s("text", { x: LEFT, y: HIGH - 5 }, `${least}`),
      s("text", { x: WIDE - 8, y: HIGH - 5, "text-anchor": "end" }, `${last} demonstrations`)),
    h("figcaption", {}, h("strong", {}, now)));
}
