// What a thing in the picture is, in plain words: for the tip, the live region and the table.
import { BASELINE, FAMILIES, HAND, ONCE, RELAXED, STATUSES, STATUS_WORDS, TIGHT, isBad } from "./families.js";
import { windowAt } from "./windows.js";
import { clock, moment, plain, plural, span } from "./words.js";

const HELD = {
  "retry-after": "Delayed: the target asked for it with Retry-After",
  "clamped-min": "Delayed by the minimum interval",
  "clamped-max": "Brought forward by the maximum interval",
  resumed: "Resumed",
  paused: "Delayed until the end of a pause",
};
const AUTHORS = { person: "a person", rule: "a declared rule", model: "a model", detector: "a detector" };
const ENDS = { expired: "expired", cleared: "cleared", replaced: "replaced" };

export function describeRun(lane, i, now) {
  const run = lane.runs[i], family = lane.family[i], isFailure = isBad(lane.status[i]);
  const lines = [{ text: because(lane, run, family) }, { text: outcome(run, lane.status[i]), isBad: isFailure }];
  if (run.error) lines.push({ text: run.error });
  if (run.startedAt !== null && run.startedAt - run.at > 1000) lines.push({ text: `Started ${span(run.startedAt - run.at)} after its slot` });
  if (run.skipped_slots) lines.push({ text: `${plural(run.skipped_slots, "slot")} skipped before it` });
  return { family, isBad: isFailure, title: FAMILIES[family].name, when: `${moment(run.at, now)} · ${ago(run.at, now)}`, lines };
}

export function because(lane, run, family) {
  const reason = plain(run.reason), said = reason ? `: ${reason}` : "";
  if (family === BASELINE) return `Baseline, ${lane.baseline}`;
  if (family === TIGHT || family === RELAXED) {
    const window = windowAt(lane, run.at);
    const what = window?.everyMs ? `Every ${span(window.everyMs)} instead of ${lane.baseline}` : `${family === TIGHT ? "More" : "Less"} often than ${lane.baseline}`;
    return what + said;
  }
  if (family === ONCE) return `Single run${said}`;
  if (family === HAND) return `Started by ${run.asked_by ?? "a person"}${said}`;
  return (HELD[run.source] ?? "Moved by a limit") + said;
}

function outcome(run, status) {
  const code = run.status_code ? `, ${run.status_code}` : "", took = run.duration_ms === null ? "" : ` in ${span(run.duration_ms)}`;
  const word = STATUSES.includes(run.status) ? STATUS_WORDS[status] : run.status;
  return `${word}${code}${took}`;
}

export const outcomeOf = (lane, i) => outcome(lane.runs[i], lane.status[i]);

const ago = (at, now) => (at > now ? `in ${span(at - now)}` : `${span(now - at)} ago`);

export function describeFlag(flag, now) {
  const who = flag.by === "person" ? flag.name || "A person" : flag.rule ? `The rule “${flag.rule}”` : `The planner (${flag.name})`;
  const more = flag.session_id ? [{ text: "Click to open the session.", isQuiet: true }] : [];
  return { title: who, when: moment(flag.at, now), lines: [{ text: flag.text || flag.kind }, ...more] };
}

export function describePlanned({ at, family }, now) {
  const about = `${FAMILIES[family].name}: ${FAMILIES[family].about}. If the runs before it succeed.`;
  return { family, isPlanned: true, title: "Planned", when: `${clock(at)} · in ${span(at - now)}`, lines: [{ text: about }] };
}

export function describeWindow(window, now) {
  const isPause = window.kind === "pause", end = window.to > now + 1e12 ? "until resumed" : moment(window.to, now);
  const title = isPause ? (window.ofJob ? "The whole job is paused" : "Paused") : `${FAMILIES[familyOf(window)].name}: every ${span(window.everyMs)}`;
  const lines = [{ text: plain(window.reason) }, { text: `By ${authorOf(window.author)}${renewals(window)}${ending(window)}.`, isQuiet: true }];
  return { family: isPause ? null : familyOf(window), title, when: `${moment(window.from, now)} – ${end}`, lines: lines.filter(({ text }) => text) };
}

export function authorOf({ kind, name }) {
  if (kind === "rule" && name) return `the rule “${name}”`;
  return kind === "person" && name ? name : AUTHORS[kind] ?? "the planner";
}

const familyOf = (window) => (window.kind === "relaxed" ? RELAXED : TIGHT);
const renewals = ({ renewals: count }) => (count ? `, renewed ${plural(count, "time")}` : "");
const ending = (window) => (window.isStanding || !ENDS[window.end] ? "" : `, ${ENDS[window.end]}`);
