// The signs of the picture as small drawings beside text: the same shapes as on the canvas.
import { FAMILIES } from "./families.js";
import { svg } from "./dom.js";

const BARS = { baseline: [5, 9], tight: [1, 15], relaxed: [7, 6], once: [4, 11], hand: [4, 11], limit: [5, 9] };

export function glyph(family, { bad = false, planned = false } = {}) {
  const { key } = FAMILIES[family];
  const [y, height] = BARS[key];
  const bar = planned
    ? svg("rect", { x: 5, y, width: 4, height, rx: 1.5, class: "outline" })
    : svg("rect", { x: 5.5, y, width: 3, height, rx: 1.5 });
  return svg("svg", { viewBox: "0 0 14 18", class: `mark m-${key}`, "aria-hidden": "true" }, bar, ...head(key), ...(bad ? [cross(7, 16)] : []));
}

function head(key) {
  if (key === "once") return [svg("circle", { cx: 7, cy: 4, r: 3.6 })];
  if (key === "hand") return [svg("path", { d: "M7 -0.4 11.2 3.8 7 8 2.8 3.8z" })];
  if (key === "limit") return [svg("rect", { x: 2.5, y: 3.4, width: 9, height: 2.6, rx: 1.2 })];
  return [];
}

const cross = (x, y) => svg("path", { d: `M${x - 2.8} ${y - 2.8} ${x + 2.8} ${y + 2.8}M${x + 2.8} ${y - 2.8} ${x - 2.8} ${y + 2.8}`, class: "cross" });

const SIGNS = {
  failed: () => [svg("path", { d: "M4 5 12 13M12 5 4 13", class: "cross" })],
  late: () => [svg("circle", { cx: 8, cy: 9, r: 4.6, class: "ring" }), svg("path", { d: "M8 6.6V9", class: "ring" })],
  hint: () => [svg("rect", { x: 0, y: 2, width: 16, height: 14, rx: 3, class: "shade" }), svg("rect", { x: 0, y: 2, width: 2, height: 14, class: "edge" })],
  pause: () => [svg("rect", { x: 0.5, y: 2.5, width: 15, height: 13, rx: 3, class: "hatched" }), svg("path", { d: "M1 12 10 3M3 16 15 4M10 16 15 11", class: "hatched" })],
  planner: () => [svg("path", { d: "M4 2V16", class: "pole" }), svg("path", { d: "M4 2 13 6 4 10z", class: "edge" })],
  person: () => [svg("path", { d: "M4 2V16", class: "pole own" }), svg("rect", { x: 4, y: 2, width: 9, height: 9, rx: 1.5, class: "own" })],
  planned: () => [svg("rect", { x: 6, y: 3, width: 4, height: 12, rx: 1.5, class: "planned" })],
};

export const sign = (kind) => svg("svg", { viewBox: "0 0 16 18", class: "sign", "aria-hidden": "true" }, ...SIGNS[kind]());
