// Where a lane has more runs than can be told apart: columns, their parts by family, a red foot
// where something failed. Their height goes with the root of the count, so that one run still shows.
import { COUNT, isBad } from "./families.js";
import { GROUND } from "./layout.js";

export const TOO_DENSE = 2.6; // pixels a run
const NARROWEST = 4;
const TALLEST = 26;

export function drawColumns(frame, lane, y, [first, last]) {
  const columns = lane.buckets ? columnsOfBuckets(frame, lane.buckets) : columnsOfRuns(frame, lane, first, last);
  const unit = TALLEST / Math.sqrt(columns.highest());
  const ground = y + GROUND;
  for (let family = 0; family < COUNT; family++) drawParts(frame, columns, family, ground, unit);
  frame.g.globalAlpha = 1;
  frame.g.fillStyle = frame.palette.danger;
  for (let k = 0; k < columns.length; k++) if (columns.bad[k]) frame.g.fillRect(columns.left(k), ground + 3, columns.size - 1, 5);
}

/** Counts by column and family. */
export class Columns {
  constructor(length, size, start = 0) {
    const numbers = (count) => new Uint32Array(count);
    Object.assign(this, { length, size, start, counts: numbers(length * COUNT), totals: numbers(length), bad: numbers(length), drawn: numbers(length) });
  }

  add(column, family, count, bad) {
    if (column < 0 || column >= this.length) return;
    this.counts[column * COUNT + family] += count;
    this.totals[column] += count;
    this.bad[column] += bad;
  }

  left(column) {
    return this.start + column * this.size;
  }

  highest() {
    let most = 1;
    for (const total of this.totals) if (total > most) most = total;
    return most;
  }
}

function columnsOfRuns({ scale, width }, lane, first, last) {
  const columns = new Columns(Math.ceil(width / NARROWEST) + 1, NARROWEST);
  const perColumn = scale.perMs / NARROWEST;
  for (let i = first; i < last; i++) {
    columns.add(Math.floor((lane.at[i] - scale.from) * perColumn), lane.family[i], 1, isBad(lane.status[i]) ? 1 : 0);
  }
  return columns;
}

/** As wide as the server's buckets, where those are wider than a column need be. */
function columnsOfBuckets({ scale, width }, buckets) {
  const size = Math.max(NARROWEST, buckets.lasts * scale.perMs);
  const start = size > NARROWEST ? scale.x(buckets.from) % size - size : 0;
  const columns = new Columns(Math.ceil((width - start) / size) + 1, size, start);
  buckets.at.forEach((at, i) => {
    const column = Math.floor((scale.x(at) - start) / size + 0.001);
    for (let family = 0; family < COUNT; family++) columns.add(column, family, buckets.counts[i * COUNT + family], 0);
    columns.add(column, 0, 0, buckets.bad[i]);
  });
  return columns;
}

function drawParts(frame, columns, family, ground, unit) {
  const { g, palette } = frame, { counts, length, size, start, totals, drawn } = columns;
  g.fillStyle = palette.families[family];
  g.globalAlpha = frame.strength(family);
  for (let k = 0; k < length; k++) {
    const own = counts[k * COUNT + family];
    if (!own) continue;
    const height = Math.max(3, Math.sqrt(totals[k]) * unit) / totals[k];
    const low = Math.round(ground - height * drawn[k]), high = Math.round(ground - height * (drawn[k] += own));
    g.fillRect(start + k * size, high, size - 1, Math.max(1, low - high));
  }
}
