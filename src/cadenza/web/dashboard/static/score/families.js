// The families of a run: why it came when it did. A colour and a shape each, never a colour alone.
export const FAMILIES = [
  { key: "baseline", name: "Baseline", about: "by its own schedule", height: 14 },
  { key: "tight", name: "Tightened", about: "more often, because a hint says so", height: 21 },
  { key: "relaxed", name: "Relaxed", about: "less often, because a hint says so", height: 9 },
  { key: "once", name: "Asked once", about: "a single run that a rule, a planner or a person asked for", height: 18 },
  { key: "hand", name: "By hand", about: "somebody ran it now", height: 18 },
  { key: "limit", name: "Held by a limit", about: "moved by min, max, a pause or Retry-After", height: 14 },
];
export const [BASELINE, TIGHT, RELAXED, ONCE, HAND, LIMIT] = FAMILIES.keys();
export const COUNT = FAMILIES.length;

export const STATUSES = ["success", "failure", "timeout", "cancelled", "running"];
export const [WELL, FAILED, TIMED_OUT, CANCELLED, RUNNING] = STATUSES.keys();
export const STATUS_WORDS = ["Went well", "Failed", "Timed out", "Was cancelled", "Is running"];

export const isBad = (status) => status === FAILED || status === TIMED_OUT;
