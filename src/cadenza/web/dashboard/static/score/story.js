// What happened in this range, in plain words: outcomes, hints and their authors, and the state now.
import { ONCE, RELAXED, TIGHT, COUNT, isBad } from "./families.js";
import { authorOf } from "./describe.js";
import { el } from "./dom.js";
import { windowAt } from "./windows.js";
import { minute, number, plural, span } from "./words.js";

const bold = (text) => el("b", { textContent: text });

export function tellStory(data) {
  const { lanes, now } = data, total = lanes.reduce((sum, lane) => sum + lane.runCount, 0);
  if (!lanes.length) return ["This job has no endpoints yet."];
  if (!total) return [bold("No runs in this range."), " ", ...firstRun(lanes, now)];
  return [...howItWent(data, total), ...whatBent(lanes, now), ...singles(lanes), " ", ...whatIsSo(lanes, now)];
}

function firstRun(lanes, now) {
  const next = Math.min(...lanes.map((lane) => lane.next_run_at ?? Infinity));
  if (next === Infinity) return ["Nothing is scheduled: every endpoint is paused or runs on demand."];
  return next <= now ? ["The next run is due."] : ["The next run is in ", bold(span(Math.max(1000, Math.round((next - now) / 1000) * 1000))), "."];
}

function howItWent({ lanes, total: laneCount }, total) {
  const bad = lanes.reduce((sum, lane) => sum + failuresOf(lane), 0);
  const of = laneCount > lanes.length ? ` of ${lanes.length} of ${plural(laneCount, "endpoint")}` : "";
  return [bold(plural(total, "run")), `${of}, ${bad ? `${share(total - bad, total)} % succeeded` : "all succeeded"}. `];
}

export function failuresOf(lane) {
  return lane.buckets ? lane.buckets.bad.reduce((sum, count) => sum + count, 0) : lane.failures.length;
}

/** Counts of a lane by family, whether it comes in runs or in buckets. */
export function countsOf(lane) {
  const counts = new Array(COUNT).fill(0);
  if (lane.buckets) lane.buckets.counts.forEach((count, i) => { counts[i % COUNT] += count; });
  else lane.family.forEach((family) => { counts[family]++; });
  return counts;
}

// --- What bent it ---------------------------------------------------------------------------------

function whatBent(lanes, now) {
  return [["tight", "tightened", TIGHT], ["relaxed", "relaxed", RELAXED]].flatMap(([kind, word, family]) => {
    const bent = lanes.flatMap((lane) => lane.windows.filter((window) => window.kind === kind && window.from <= now).map((window) => ({ lane, window })));
    return bent.length ? [...bentBy(bent, word, now), ...cameOf(bent, family), ". "] : [];
  });
}

function bentBy(bent, word, now) {
  const names = unique(bent.map(({ lane }) => lane.name)), by = authorsOf(bent.map(({ window }) => window.author));
  const from = Math.min(...bent.map(({ window }) => window.from)), to = Math.max(...bent.map(({ window }) => window.to));
  const when = bent.length === 1 ? ` for ${span(whole(Math.min(now, to) - from))}` : ` from ${minute(from)} to ${to > now ? "now" : minute(to)}`;
  return [bold(by[0].toUpperCase() + by.slice(1)), ` ${word} `, names.length > 1 ? plural(names.length, "endpoint") : names[0], when];
}

/** One or two by name, more of them by number. */
function authorsOf(authors) {
  const names = unique(authors.map(authorOf));
  if (names.length <= 2) return names.join(" and ");
  const people = unique(authors.filter(({ kind }) => kind === "person").map(authorOf)).length, others = names.length - people;
  const planners = authors.every(({ kind }) => kind === "rule" || kind === "person") ? plural(others, "rule") : "the planner";
  return [others && planners, people && plural(people, "person", "people")].filter(Boolean).join(" and ");
}

function cameOf(bent, family) {
  let count = 0, bad = 0;
  for (const lane of new Set(bent.map(({ lane: each }) => each))) {
    if (lane.buckets) count += countsOf(lane)[family];
    lane.family.forEach((each, i) => {
      if (each !== family) return;
      count++;
      if (isBad(lane.status[i])) bad++;
    });
  }
  return count ? [` (${plural(count, "run")}${bad ? `, ${bad} failed` : ""})`] : [""];
}

function singles(lanes) {
  const count = lanes.reduce((sum, lane) => sum + countsOf(lane)[ONCE], 0);
  return count ? [bold(plural(count, "single run")), ` ${count === 1 ? "was" : "were"} requested.`] : [];
}

function whatIsSo(lanes, now) {
  const off = lanes.filter((lane) => windowAt(lane, now) || windowAt(lane, now, ["pause"])).length;
  return off ? [bold(`${plural(off, "endpoint")} ${off === 1 ? "is" : "are"} off the baseline now.`)] : ["Every endpoint is on its baseline now."];
}

const share = (part, whole) => number(Math.floor((1000 * part) / whole) / 10); // 99.9 is not all
const unique = (values) => [...new Set(values)];
const whole = (ms) => Math.max(1000, Math.round(ms / 1000) * 1000);
