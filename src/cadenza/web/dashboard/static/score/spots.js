// What is where: from a place on the canvas to the run, flag, plan or window that is drawn there.
import { shownFlags } from "./flags.js";
import { isDense } from "./lanes.js";
import { nearest } from "./scale.js";

const NEAR_RUN = 7, NEAR_PLAN = 5, FLAG_ROW = 15;

/** `y`: pixels from the top of the lane. */
export function spotAt(frame, lane, x, y) {
  const at = frame.scale.at(x);
  if (!lane) return { at };
  const flag = y < FLAG_ROW ? shownFlags(frame, lane).findLast((shown) => x >= shown.x - 3 && x <= shown.x + 11)?.flag : null;
  if (flag) return { at, flag };
  const run = isDense(frame, lane) ? -1 : nearest(lane.at, at);
  if (run >= 0 && Math.abs(frame.scale.x(lane.at[run]) - x) < NEAR_RUN) return { at, run };
  const planned = lane.planned.find((plan) => plan.at > frame.now && Math.abs(frame.scale.x(plan.at) - x) < NEAR_PLAN);
  if (planned) return { at, planned };
  const window = lane.windows.findLast((each) => each.from <= at && at <= each.to);
  return window ? { at, window } : { at };
}
