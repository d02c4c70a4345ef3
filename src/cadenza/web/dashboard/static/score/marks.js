// A mark for each run, where its slot was: bars of their family's shape, tails, and feet.
import { CANCELLED, COUNT, FAILED, FAMILIES, HAND, LIMIT, ONCE, RUNNING, isBad } from "./families.js";
import { FEET, GROUND } from "./layout.js";

const WIDTH = 3;
const MANY = 240; // marks in a lane, from which on plain rectangles are drawn: they cost a third
const SHORTEST_TAIL = 3;

export function drawMarks(frame, lane, y, [first, last]) {
  drawTails(frame, lane, y + GROUND, first, last);
  for (let family = 0; family < COUNT; family++) drawFamily(frame, lane, y + GROUND, first, last, family);
  frame.g.globalAlpha = 1;
  drawFeet(frame, lane, y + FEET, first, last);
}

/** How long a run took, once that can be seen. */
function drawTails(frame, lane, ground, first, last) {
  const { g, scale, palette } = frame;
  const longEnough = SHORTEST_TAIL / scale.perMs;
  for (let i = first; i < last; i++) {
    if (!(lane.took[i] >= longEnough)) continue;
    g.fillStyle = isBad(lane.status[i]) ? palette.danger : palette.families[lane.family[i]];
    g.globalAlpha = 0.35 * frame.strength(lane.family[i]);
    g.fillRect(scale.x(lane.at[i]), ground - 5, lane.took[i] * scale.perMs, 3);
  }
  g.globalAlpha = 1;
}

/** One colour after the other: a canvas is slow at changing its mind. */
function drawFamily(frame, lane, ground, first, last, family) {
  const { g, scale, palette } = frame;
  const { height } = FAMILIES[family];
  const isMany = last - first > MANY;
  g.fillStyle = g.strokeStyle = palette.families[family];
  g.globalAlpha = frame.strength(family);
  g.lineWidth = 1.2;
  g.beginPath();
  for (let i = first; i < last; i++) {
    if (lane.family[i] !== family) continue;
    const x = scale.x(lane.at[i]);
    if (lane.status[i] === RUNNING) g.strokeRect(x - 1.5, ground - height, WIDTH, height);
    else if (isMany) g.rect(Math.round(x * frame.ratio) / frame.ratio - 1.5, ground - height, WIDTH, height);
    else g.roundRect(x - 1.5, ground - height, WIDTH, height, 1.5);
    addHead(g, family, x, ground - height);
  }
  g.fill();
}

export function addHead(g, family, x, y) {
  if (family === ONCE) {
    g.moveTo(x + 4, y);
    g.arc(x, y, 4, 0, 7);
  } else if (family === HAND) {
    g.moveTo(x, y - 5);
    for (const [dx, dy] of [[5, 0], [0, 5], [-5, 0]]) g.lineTo(x + dx, y + dy);
    g.closePath();
  } else if (family === LIMIT) g.rect(x - 5, y - 1, 10, 3);
}

/** What came of it, where that was not well: a cross, a ring, a dash; and slots that passed. */
function drawFeet({ g, scale, palette }, lane, y, first, last) {
  g.strokeStyle = palette.danger;
  g.lineWidth = 1.8;
  g.lineCap = "round";
  g.beginPath();
  for (let i = first; i < last; i++) {
    const x = scale.x(lane.at[i]);
    if (isBad(lane.status[i])) addFoot(g, x, y, lane.status[i]);
    else if (lane.status[i] === CANCELLED) addDash(g, palette["ink-3"], x - 3, y, 6, 2);
    if (lane.skipped[i]) addDash(g, palette.families[LIMIT], x + 4, y - 1, 6, 3);
  }
  g.stroke();
  g.lineCap = "butt";
}

function addFoot(g, x, y, status) {
  if (status === FAILED) {
    g.moveTo(x - 2.6, y - 2.6);
    g.lineTo(x + 2.6, y + 2.6);
    g.moveTo(x + 2.6, y - 2.6);
    g.lineTo(x - 2.6, y + 2.6);
  } else {
    g.moveTo(x + 2.9, y);
    g.arc(x, y, 2.9, 0, 6.3);
    g.moveTo(x, y - 1.4);
    g.lineTo(x, y);
  }
}

function addDash(g, colour, x, y, width, height) {
  g.fillStyle = colour;
  g.fillRect(x, y, width, height);
}
