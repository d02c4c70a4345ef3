// Where things are in a lane, in pixels from its top: the reason, the marks, their feet.
export const LANE = 54;
export const TOP = 3; // of a window's shade
export const REASON = 14; // the line that reasons are written on
export const GROUND = 42; // what marks stand on
export const FEET = 47.5; // the middle of what is said about an outcome
export const ROW = 40; // of an answer above the lanes
export const AXIS = 26;
export const MAP = 44;

/** The lanes that are in sight, as [first, after the last]. */
export function inSight(scrollTop, height, count) {
  const first = Math.max(0, Math.floor(scrollTop / LANE));
  return [Math.min(first, count), Math.min(count, Math.ceil((scrollTop + height) / LANE))];
}
