// From time to pixels and back, the marks of the axis, and where a view may go.
import { DAY, HOUR, MINUTE, SECOND } from "./words.js";

const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28].map((n) => n * DAY),
];
const APART = 86; // pixels between two marks of the axis, at least
const NARROWEST = 20 * SECOND;

export class TimeScale {
  constructor({ from, to }, width) {
    Object.assign(this, { from, to, width, perMs: width / (to - from) });
  }

  x(at) {
    return (at - this.from) * this.perMs;
  }

  at(x) {
    return this.from + x / this.perMs;
  }

  /** Round times of the browser's clock, also on the day it is put forward or back. */
  ticks() {
    const step = STEPS.find((each) => each * this.perMs >= APART) ?? STEPS.at(-1);
    const times = [];
    for (let local = Math.ceil((this.from - behind(this.from)) / step) * step; ; local += step) {
      const at = local + behind(local + behind(this.from));
      if (at > this.to) return { step, times };
      times.push(at);
    }
  }
}

const behind = (at) => new Date(at).getTimezoneOffset() * MINUTE;

/** The view nearest to `view` that is not too narrow and does not leave `bounds`. */
export function within(view, bounds) {
  const width = Math.min(Math.max(view.to - view.from, NARROWEST), bounds.to - bounds.from);
  const wanted = (view.from + view.to - width) / 2;
  const from = Math.min(Math.max(wanted, bounds.from), bounds.to - width);
  return { from, to: from + width };
}

export function zoomed({ from, to }, factor, around = (from + to) / 2) {
  return { from: around - (around - from) * factor, to: around + (to - around) * factor };
}

export function moved({ from, to }, by) {
  return { from: from + by, to: to + by };
}

/** The first place in a sorted array whose time is not before `at`. */
export function firstFrom(times, at) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The place in a sorted array whose time is nearest to `at`; -1 in an empty one. */
export function nearest(times, at) {
  const next = firstFrom(times, at);
  if (next === times.length) return next - 1;
  return next > 0 && at - times[next - 1] < times[next] - at ? next - 1 : next;
}
