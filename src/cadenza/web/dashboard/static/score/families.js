// The families of a run: why it came when it did. A colour and a shape each, never a colour alone.
export const FAMILIES = [
  { key: "baseline", name: "Baseline", about: "Ran on its own schedule", height: 14 },
  { key: "tight", name: "Tightened", about: "Ran more often, because of a hint", height: 21 },
  { key: "relaxed", name: "Relaxed", about: "Ran less often, because of a hint", height: 9 },
  { key: "once", name: "Asked once", about: "A single run that a rule, a model or a person asked for", height: 18 },
  { key: "hand", name: "By hand", about: "Started by a person", height: 18 },
  { key: "limit", name: "Held by a limit", about: "Moved by the minimum or maximum interval, a pause or Retry-After", height: 14 },
];
export const [BASELINE, TIGHT, RELAXED, ONCE, HAND, LIMIT] = FAMILIES.keys();
export const COUNT = FAMILIES.length;

export const STATUSES = ["success", "failure", "timeout", "cancelled", "running"];
export const [WELL, FAILED, TIMED_OUT, CANCELLED, RUNNING] = STATUSES.keys();
export const STATUS_WORDS = ["Succeeded", "Failed", "Timed out", "Cancelled", "Running"];

export const isBad = (status) => status === FAILED || status === TIMED_OUT;
