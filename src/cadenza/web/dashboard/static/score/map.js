// Below the lanes: the whole range, with the part that is in view.
import { Columns } from "./columns.js";
import { COUNT, isBad } from "./families.js";
import { MAP } from "./layout.js";
import { TimeScale } from "./scale.js";

const COLUMN = 3;
const GROUND = MAP - 8;

export function drawMap(frame, range, view, columns) {
  const whole = new TimeScale(range, frame.width);
  drawColumns(frame, columns);
  const left = Math.max(0.5, whole.x(view.from)), right = Math.min(frame.width - 0.5, whole.x(view.to));
  frame.fill("paper-sunk", 0, 0, left, MAP, 0.72);
  frame.fill("paper-sunk", right, 0, frame.width - right, MAP, 0.72);
  frame.g.strokeStyle = frame.palette["ink-3"];
  frame.g.lineWidth = 1;
  frame.g.strokeRect(left, 0.5, right - left, MAP - 1);
  frame.fill("ink", whole.x(frame.now), 0, 1, MAP);
}

/** All the lanes that are known, added up; kept until the data or the width is another. */
export function mapColumns(lanes, range, width) {
  const length = Math.ceil(width / COLUMN), columns = new Columns(length, COLUMN), perMs = length / (range.to - range.from);
  const columnOf = (at) => Math.min(length - 1, Math.floor((at - range.from) * perMs));
  for (const lane of lanes) {
    for (let i = 0; i < lane.at.length; i++) columns.add(columnOf(lane.at[i]), lane.family[i], 1, isBad(lane.status[i]) ? 1 : 0);
    lane.buckets?.at.forEach((at, i) => {
      for (let family = 0; family < COUNT; family++) columns.add(columnOf(at), family, lane.buckets.counts[i * COUNT + family], 0);
      columns.add(columnOf(at), 0, 0, lane.buckets.bad[i]);
    });
  }
  return columns;
}

function drawColumns(frame, columns) {
  const unit = (MAP - 18) / columns.highest();
  for (let k = 0; k < columns.length; k++) {
    let top = GROUND;
    for (let family = 0; family < COUNT; family++) {
      const count = columns.counts[k * COUNT + family];
      if (!count) continue;
      const height = Math.max(1.5, count * unit);
      top -= height;
      frame.fill(frame.palette.families[family], k * COLUMN, top, COLUMN - 1, height);
    }
    if (columns.bad[k]) frame.fill("danger", k * COLUMN, GROUND + 2, COLUMN - 1, 3);
  }
}
