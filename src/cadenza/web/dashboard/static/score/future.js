// Right of now: dashed is what is planned under the hints in force, dots below are what the baseline
// alone would do, where that is something else.
import { FAMILIES, BASELINE, ONCE } from "./families.js";
import { GROUND } from "./layout.js";

const APART = 4;

export function drawFuture(frame, lane, y) {
  if (frame.scale.to < frame.now) return;
  drawPlanned(frame, lane, y + GROUND);
  if (lane.isBent) drawBaseline(frame, lane, y + GROUND + 4.5);
}

function drawPlanned(frame, lane, ground) {
  const { g, scale, palette, width } = frame;
  let before = -APART;
  g.setLineDash([2.4, 1.8]);
  g.lineWidth = 1.2;
  for (const { at, family } of lane.planned) {
    const x = scale.x(at);
    if (at < frame.now || x > width || x - before < APART) continue;
    before = x;
    const { height } = FAMILIES[family];
    g.strokeStyle = palette.families[family];
    g.globalAlpha = frame.strength(family);
    g.beginPath();
    g.roundRect(x - 2, ground - height, 4, height, 1.5);
    g.stroke();
    if (family === ONCE) drawEmptyHead(frame, x, ground - height);
  }
  g.setLineDash([]);
  g.globalAlpha = 1;
}

function drawEmptyHead({ g, palette }, x, y) {
  g.beginPath();
  g.arc(x, y, 3.6, 0, 7);
  g.fillStyle = palette["paper-sunk"];
  g.fill();
  g.stroke();
}

function drawBaseline({ g, scale, palette, width, now }, lane, y) {
  let before = -APART;
  g.fillStyle = palette.families[BASELINE];
  g.globalAlpha = 0.75;
  for (const at of lane.baselineAlone) {
    const x = scale.x(at);
    if (at < now || x > width || x - before < APART + 1) continue;
    before = x;
    g.beginPath();
    g.arc(x, y, 1.5, 0, 7);
    g.fill();
  }
  g.globalAlpha = 1;
}
