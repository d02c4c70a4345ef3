// The answer of the server as the picture wants it: instants as numbers, what is drawn most as typed
// arrays, sorted by time.
import { COUNT, STATUSES, isBad } from "./families.js";

const FAMILY = { baseline: 0, tightened: 1, relaxed: 2, once: 3, manual: 4, held: 5 };
const BEND = { tightened: "tight", relaxed: "relaxed" };
const FOREVER = Date.parse("9000-01-01T00:00:00Z");
const AHEAD = 2000; // milliseconds by which two plans may differ and still be the same

export function scoreOf(answer) {
  return {
    job: answer.job,
    at: Date.parse(answer.at),
    range: { from: Date.parse(answer.from), to: Date.parse(answer.to) },
    total: answer.lanes_total,
    next: answer.next,
    lanes: answer.lanes.map((lane) => ({ ...laneOf(lane, answer.bucket_ms), freshAt: Date.parse(answer.at) })),
    values: answer.values.map(valueOf),
    fields: answer.fields,
  };
}

function laneOf({ endpoint, ...lane }, bucketMs) {
  const planned = lane.planned.map(({ at, family }) => ({ at: Date.parse(at), family: FAMILY[family] }));
  const runs = lane.runs.map(runOf);
  const baselineAlone = lane.baseline.map(({ at }) => Date.parse(at));
  return {
    ...endpoint,
    next_run_at: instant(endpoint.next_run_at),
    runCount: lane.run_count,
    knownFrom: instant(lane.known_from),
    ...runsOf(runs),
    buckets: lane.buckets && bucketsOf(lane.buckets, bucketMs),
    windows: lane.windows.map(windowOf),
    flags: [...lane.flags.map(flagOf), ...runs.filter((run) => run.family === "manual").map(flagOfHand)].sort((a, b) => a.at - b.at),
    planned,
    baselineAlone,
    isBent: planned.length !== baselineAlone.length || planned.some(({ at }, i) => Math.abs(at - baselineAlone[i]) > AHEAD),
  };
}

function runOf(run) {
  const at = Date.parse(run.slot_at);
  return { ...run, at, startedAt: instant(run.started_at) };
}

/** What a lane knows of its runs, oldest first; the arrays are what is drawn. */
export function runsOf(runs) {
  const count = runs.length;
  const columns = { at: new Float64Array(count), took: new Float32Array(count), family: new Uint8Array(count), status: new Uint8Array(count), skipped: new Uint16Array(count) };
  const failures = [];
  runs.forEach((run, i) => {
    columns.at[i] = run.at;
    columns.took[i] = run.duration_ms ?? NaN;
    columns.family[i] = FAMILY[run.family];
    columns.status[i] = Math.max(0, STATUSES.indexOf(run.status));
    columns.skipped[i] = Math.min(run.skipped_slots, 65535);
    if (isBad(columns.status[i])) failures.push(i);
  });
  return { runs, failures, ...columns };
}

function bucketsOf(buckets, lasts) {
  const counts = new Uint32Array(buckets.length * COUNT);
  buckets.forEach((bucket, i) => {
    for (const [family, count] of Object.entries(bucket.counts)) counts[i * COUNT + FAMILY[family]] = count;
  });
  const at = Float64Array.from(buckets, (bucket) => Date.parse(bucket.from));
  return { at, counts, lasts, from: at[0] ?? 0, bad: Uint32Array.from(buckets, (bucket) => bucket.failed + bucket.timed_out) };
}

function windowOf(window) {
  return {
    kind: BEND[window.bends] ?? "pause",
    ofJob: window.kind === "job-pause",
    from: Date.parse(window.from),
    to: instant(window.to) ?? FOREVER,
    isStanding: window.ended_as === "standing",
    end: window.ended_as,
    everyMs: window.interval_ms,
    by: window.author.kind === "person" ? "person" : "planner",
    author: window.author,
    renewals: window.renewals,
    reason: window.reason,
    sessionId: window.session_id,
  };
}

function flagOf(flag) {
  const label = flag.kind === "once" ? flag.text.replace(/^once(: )?/, "") || "asked once" : undefined;
  return { ...flag, at: Date.parse(flag.at), label, isRenewal: flag.renewal === true };
}

/** A run by hand steers nothing: the run itself says that somebody was there. */
function flagOfHand({ at, asked_by: name }) {
  return { at, by: "person", name, kind: "run", text: "ran it by hand", label: "run by hand", session_id: null, rule: null, isRenewal: false };
}

function valueOf(value) {
  const points = value.points.map(([at, figure]) => [Date.parse(at), figure]);
  return { ...value, points, key: `${value.endpoint_id}:${value.path.join(".")}` };
}

const instant = (text) => (text ? Date.parse(text) : null);

// --- What comes later ------------------------------------------------------------------------------

/** A lane with what is newer than `since` taken from a later answer, and nothing from before `from`. */
export function renewed(lane, later, since, from) {
  const old = lane.runs.filter((run) => run.at < since && run.at >= from);
  return {
    ...later,
    ...runsOf([...old, ...later.runs.filter((run) => run.at >= since)]),
    windows: [...lane.windows.filter((window) => window.to < since && window.to >= from), ...later.windows].sort((a, b) => a.from - b.from),
    flags: [...lane.flags.filter((flag) => flag.at < since), ...later.flags.filter((flag) => flag.at >= since)],
    knownFrom: lane.knownFrom,
    runCount: old.length + later.runs.filter((run) => run.at >= since).length,
  };
}

export function renewedValue(value, later, since) {
  const points = [...value.points.filter(([at]) => at < since), ...later.points.filter(([at]) => at >= since)];
  return { ...later, points };
}

/** The earliest moment that may have changed since: runs that were under way, and a little more. */
export function openSince(lanes, margin) {
  let since = Math.min(...lanes.map((lane) => lane.freshAt)) - margin;
  for (const lane of lanes) {
    for (let i = lane.runs.length - 1; i >= 0 && i >= lane.runs.length - 20; i--) {
      if (lane.runs[i].status === "running") since = Math.min(since, lane.at[i]);
    }
  }
  return since;
}
