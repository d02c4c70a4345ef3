// What bent a schedule, and for how long: a shade that says its interval and its reason. A person's
// has a thick edge, a planner's a thin one; a pause is hatched.
import { RELAXED, TIGHT } from "./families.js";
import { GROUND, REASON, TOP } from "./layout.js";
import { plain, span } from "./words.js";

export function drawWindows(frame, lane, y) {
  for (const window of lane.windows) drawWindow(frame, window, y);
}

function drawWindow(frame, window, y) {
  const { g, scale, palette, width } = frame;
  const start = scale.x(window.from), end = Math.min(scale.x(window.to), width + 8);
  if (end < -2 || start > width) return;
  const left = Math.max(start, -8), wide = Math.max(2, end - left);
  const colour = colourOf(window, palette);
  g.fillStyle = window.kind === "pause" ? palette.hatch : colour;
  g.globalAlpha = window.kind === "pause" ? 0.75 : palette.shade;
  g.fillRect(left, y + TOP, wide, GROUND - TOP);
  frame.fill(colour, left, y + TOP, window.by === "person" ? 3 : 1.5, GROUND - TOP, window.kind === "pause" ? 0.5 : 0.9);
  const label = colourOf(window, palette, "ink-2");
  frame.text(labelOf(window), Math.max(start, 0) + 13, y + REASON, wide - 18, label, { back: window.kind === "pause" });
}

function colourOf(window, palette, ofPause = "ink-3") {
  if (window.kind === "pause") return palette[ofPause];
  return palette.families[window.kind === "relaxed" ? RELAXED : TIGHT];
}

export function labelOf(window) {
  const reason = plain(window.reason);
  const what = window.kind === "pause" ? "paused" : `every ${span(window.everyMs)}`;
  return reason ? `${what} · ${reason}` : what;
}

/** The window of these kinds that a moment is in; the last one to begin, where there are several. */
export function windowAt(lane, at, kinds = ["tight", "relaxed"]) {
  return lane.windows.findLast((window) => kinds.includes(window.kind) && window.from <= at && at <= window.to);
}
