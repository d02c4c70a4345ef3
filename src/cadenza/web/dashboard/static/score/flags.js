// Who acted: a pennant is the planner, a badge a person. What is asked once says why beside it.
import { REASON } from "./layout.js";
import { windowAt } from "./windows.js";
import { plain } from "./words.js";

const APART = 10; // pixels; what is nearer is one flag
const LONGEST_LABEL = 260;
const AROUND = 2000; // milliseconds between what is done and the window it opens

export function drawFlags(frame, lane, y) {
  const shown = shownFlags(frame, lane);
  shown.forEach(({ x, flag }, i) => {
    if (flag.by === "person") drawBadge(frame, x, y);
    else drawPennant(frame, x, y);
    if (!flag.label || isInWindow(lane, flag.at)) return;
    const next = shown[i + 1]?.x ?? frame.scale.x(Math.max(frame.now, flag.at));
    const room = Math.min(next > x ? next : frame.width, nextWindow(frame, lane, flag.at), frame.width) - x - 26;
    const colour = frame.palette[flag.by === "person" ? "ink-2" : "once-text"];
    frame.text(plain(flag.label), x + 13, y + REASON, Math.min(room, LONGEST_LABEL), colour);
  });
}

/** Those that are drawn; of several in one place, the last. A renewal changes nothing: its window
 * says how often. */
export function shownFlags({ scale, width }, lane) {
  const shown = [];
  for (const flag of lane.flags) {
    const x = scale.x(flag.at);
    if (flag.isRenewal || x < -6 || x > width + 6) continue;
    const last = shown.at(-1);
    if (last && x - last.x < APART && last.flag.by === flag.by) last.flag = flag.label ? flag : last.flag;
    else shown.push({ x, flag });
  }
  return shown;
}

/** Where the next one begins: from there on, its own reason is written. */
const nextWindow = ({ scale }, lane, at) => scale.x(Math.min(...lane.windows.map(({ from }) => (from > at ? from : Infinity))));

/** There the window's own reason is written. */
const isInWindow = (lane, at) => windowAt(lane, at + AROUND) || windowAt(lane, at - AROUND);

function drawPennant({ g, palette }, x, y) {
  g.fillStyle = palette.flag;
  g.fillRect(x - 0.6, y + 4, 1.2, 11);
  g.beginPath();
  g.moveTo(x, y + 4);
  g.lineTo(x + 9, y + 8);
  g.lineTo(x, y + 12);
  g.fill();
}

function drawBadge({ g, palette }, x, y) {
  g.fillStyle = palette.ink;
  g.fillRect(x - 0.6, y + 4, 1.2, 11);
  g.beginPath();
  g.roundRect(x - 0.6, y + 4, 8, 8, 1.5);
  g.fill();
  g.fillStyle = palette["paper-raised"];
  g.beginPath();
  g.arc(x + 3.4, y + 7, 1.5, 0, 7);
  g.fill();
  g.fillRect(x + 1.4, y + 9.2, 4, 1.4);
}
