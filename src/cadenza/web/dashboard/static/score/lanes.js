// One lane after the other: what bent it, what ran, what is planned, who acted.
import { TOO_DENSE, drawColumns } from "./columns.js";
import { drawFlags } from "./flags.js";
import { drawFuture } from "./future.js";
import { GROUND, LANE } from "./layout.js";
import { drawMarks } from "./marks.js";
import { firstFrom } from "./scale.js";
import { drawWindows } from "./windows.js";

export function drawLane(frame, lane, y, isChosen) {
  if (isChosen) frame.fill("paper-sunk", 0, y, frame.width, LANE, 0.55);
  frame.fill("rule", 0, y + LANE - 1, frame.width, 1);
  frame.fill("rule", 0, y + GROUND, frame.width, 1, 0.9);
  if (!lane) return;
  drawWindows(frame, lane, y);
  const runs = runsInView(frame, lane);
  if (isDense(frame, lane)) drawColumns(frame, lane, y, runs);
  else drawMarks(frame, lane, y, runs);
  drawFuture(frame, lane, y);
  drawFlags(frame, lane, y);
}

/** From the first whose tail may reach into the view. */
function runsInView({ scale }, lane) {
  const longest = Math.min(3_600_000, scale.to - scale.from);
  return [firstFrom(lane.at, scale.from - longest), firstFrom(lane.at, scale.to)];
}

export function isDense({ scale, width }, lane) {
  if (lane.buckets) return true;
  return (firstFrom(lane.at, scale.to) - firstFrom(lane.at, scale.from)) * TOO_DENSE > width;
}
