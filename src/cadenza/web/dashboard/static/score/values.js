// Above the lanes: the answers that rules read, over the same time; a dot and the limit where a rule
// fired. Cause above, effect below. And the axis.
import { AXIS, ROW } from "./layout.js";
import { DAY, MINUTE, clock, compact, day, minute } from "./words.js";

const SIGNS = { ">=": "≥", "<=": "≤", "==": "=", "!=": "≠" };
const SAME_MOMENT = 15_000;

export function drawValues(frame, values, lanes) {
  values.forEach((value, row) => {
    const line = lineOf(frame, value, row);
    if (!line) return;
    drawLine(frame, line);
    drawFirings(frame, value, line, firings(value, lanes));
  });
}

/** The points of a field as pixels: it holds until the next answer, so the line has steps. */
function lineOf({ scale, now }, { points }, row) {
  const seen = points.filter(([at], i) => (points[i + 1]?.[0] ?? now) >= scale.from && at <= scale.to);
  if (!seen.length) return null;
  const [low, high] = bounds(points);
  const top = row * ROW + 10, height = ROW - 14;
  const y = (figure) => top + height - ((Math.min(high, Math.max(low, figure)) - low) / (high - low || 1)) * height;
  return { seen, y, top, bottom: top + height };
}

function drawLine({ g, scale, palette, now, width }, { seen, y, bottom }) {
  const start = scale.x(seen[0][0]), end = Math.min(scale.x(now), width);
  let height = y(seen[0][1]);
  g.beginPath();
  g.moveTo(start, height);
  for (const [at, figure] of seen) {
    g.lineTo(scale.x(at), height);
    height = y(figure);
    g.lineTo(scale.x(at), height);
  }
  g.lineTo(end, height);
  g.strokeStyle = palette["ink-2"];
  g.lineWidth = 1.4;
  g.stroke();
  g.lineTo(end, bottom);
  g.lineTo(start, bottom);
  g.fillStyle = palette["ink-3"];
  g.globalAlpha = 0.13;
  g.fill();
  g.globalAlpha = 1;
}

/** When a rule fired that reads this field, and what it was waiting for. Of those that fired in one
 * moment, the limit nearest to the answer says the most. */
export function firings(value, lanes) {
  const found = [];
  for (const lane of lanes) {
    for (const flag of lane.flags) {
      for (const limit of value.limits) {
        if (flag.rule !== limit.rule || flag.isRenewal) continue;
        const figure = value.points.findLast(([at]) => at <= flag.at + 1000)?.[1];
        if (figure !== undefined) found.push({ at: flag.at, figure, limit });
      }
    }
  }
  const distance = ({ figure, limit }) => Math.abs(figure - limit.value);
  found.sort((a, b) => a.at - b.at || distance(a) - distance(b));
  return found.filter((firing, i) => !found.some((other, k) => k !== i && Math.abs(other.at - firing.at) < SAME_MOMENT && (distance(other) < distance(firing) || (distance(other) === distance(firing) && k < i))));
}

function drawFirings(frame, value, { y, top, bottom }, list) {
  const { g, scale, palette, width } = frame;
  let written = -99;
  frame.font(600, 10);
  for (const { at, figure, limit } of list) {
    const x = scale.x(at), text = `${SIGNS[limit.op] ?? limit.op} ${compact(limit.value)}`, wide = frame.widthOf(text), left = x - 22 - wide;
    if (x < 0 || x > width) continue;
    g.fillStyle = g.strokeStyle = palette.flag;
    g.beginPath();
    g.arc(x, y(figure), 3, 0, 7);
    g.fill();
    if (left < written + 8) continue;
    written = x;
    drawLimit(frame, { text, left, wide, x, y: y(limit.value), at: Math.max(top + 6, Math.min(bottom, y(limit.value) + 3.5)) });
  }
}

function drawLimit({ g, palette }, { text, left, wide, x, y, at }) {
  g.setLineDash([2, 2]);
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(x - 19, y);
  g.lineTo(x, y);
  g.stroke();
  g.setLineDash([]);
  g.globalAlpha = 0.9;
  g.fillStyle = palette["paper-raised"];
  g.fillRect(left - 2, at - 9, wide + 4, 11);
  g.globalAlpha = 1;
  g.fillStyle = palette.flag;
  g.fillText(text, left, at);
}

/** What a field was at a moment, or its bounds where no moment is pointed at. */
export function figureAt({ points }, at, now) {
  const seen = at !== null && at <= now ? points.findLast(([when]) => when <= at) : null;
  if (seen) return seen[1].toLocaleString("en");
  const [low, high] = bounds(points);
  return points.length ? `${compact(low)} – ${compact(high)}` : "";
}

function bounds(points) {
  let low = Infinity, high = -Infinity;
  for (const [, figure] of points) {
    low = Math.min(low, figure);
    high = Math.max(high, figure);
  }
  return [low, high];
}

// --- The axis -------------------------------------------------------------------------------------

export function drawAxis(frame, top) {
  const { g, scale, palette, width } = frame;
  const { step, times } = scale.ticks(), pill = pillOf(frame);
  frame.font();
  g.fillStyle = palette["ink-3"];
  for (const at of times) {
    const x = scale.x(at), text = step >= DAY ? day(at) : step < MINUTE ? clock(at) : minute(at);
    if (x + 44 < width && !(pill && x + 46 > pill.left && x < pill.right)) g.fillText(text, x + 5, top + 17);
  }
  if (pill) drawPill(frame, pill, top);
}

function pillOf(frame) {
  const x = frame.scale.x(frame.now);
  if (x <= 0 || x >= frame.width) return null;
  frame.font();
  const text = `now ${clock(frame.now)}`, width = frame.widthOf("now 00:00:00") + 12;
  return { text, width, x, left: Math.max(2, x - width - 5), right: x };
}

function drawPill({ g, palette, width }, pill, top) {
  g.fillStyle = palette.ink;
  g.beginPath();
  g.roundRect(pill.left, top + 4, pill.width, AXIS - 8, 4);
  g.fill();
  g.fillStyle = palette["paper-raised"];
  g.fillText(pill.text, pill.left + 6, top + 17);
  g.fillStyle = palette["ink-3"];
  if (width - pill.x > 60) g.fillText("planned", pill.x + 7, 16);
}
