// The keyboard: everything that a mouse can do.
import { firstFrom, nearest } from "./scale.js";

const PAGE = 8; // lanes
const KEYS = {
  ArrowLeft: (score) => step(score, -1),
  ArrowRight: (score) => step(score, 1),
  ArrowUp: (score) => climb(score, -1),
  ArrowDown: (score) => climb(score, 1),
  PageUp: (score) => climb(score, -PAGE),
  PageDown: (score) => climb(score, PAGE),
  Home: (score) => stepTo(score, () => 0),
  End: (score) => stepTo(score, (lane) => lane.runs.length - 1),
  "Shift+ArrowLeft": (score) => score.move(-0.25),
  "Shift+ArrowRight": (score) => score.move(0.25),
  "+": (score) => score.zoom(0.5),
  "=": (score) => score.zoom(0.5),
  "-": (score) => score.zoom(2),
  _: (score) => score.zoom(2),
  0: (score) => score.fit(),
  f: (score) => next(score, failures, "No failure is in this range."),
  p: (score) => next(score, plannerActs, "The planner did nothing in this range."),
  Enter: (score) => score.open(),
  " ": (score) => score.open(),
  Escape: (score) => { score.choose(null); score.say(""); },
};

export function listenToKeys(score) {
  score.plot.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const act = KEYS[event.shiftKey && key.startsWith("Arrow") ? `Shift+${key}` : key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation(); // p is no shortcut of the page while the score has the focus
    act(score);
    score.draw();
  });
  score.plot.addEventListener("focus", () => { if (!score.chosen && score.plot.matches(":focus-visible")) land(score); });
  score.plot.addEventListener("blur", () => score.tip.hide());
}

/** The last run in view of the first lane that has one. */
function land(score) {
  const index = score.data.lanes.findIndex((_, i) => score.laneAt(i).runs.length);
  if (index >= 0) chooseAt(score, index, (lane) => Math.max(0, firstFrom(lane.at, score.view.to) - 1));
}

function chooseAt(score, index, placeIn) {
  const lane = score.laneAt(index);
  score.choose(index, lane?.runs.length ? lane.runs[placeIn(lane)] : null);
  score.reveal();
}

function step(score, by) {
  if (!score.chosen) return land(score);
  const { place } = score;
  stepTo(score, (lane) => (place < 0 ? lane.runs.length - 1 : Math.min(lane.runs.length - 1, Math.max(0, place + by))));
}

function stepTo(score, placeIn) {
  if (score.chosen) chooseAt(score, score.chosen.lane, placeIn);
}

/** To the run of another lane that is nearest in time. */
function climb(score, by) {
  if (!score.chosen) return land(score);
  const at = score.chosen.run?.at ?? (score.view.from + score.view.to) / 2;
  const index = Math.min(score.data.lanes.length - 1, Math.max(0, score.chosen.lane + by));
  chooseAt(score, index, (lane) => nearest(lane.at, at));
}

function next(score, placesOf, otherwise) {
  const at = score.chosen?.run?.at ?? score.view.from - 1, here = score.chosen?.lane ?? -1;
  const places = score.data.lanes.flatMap((_, index) => {
    const lane = score.laneAt(index);
    return placesOf(lane).filter(([, place]) => place >= 0).map(([when, place]) => ({ when, index, place, run: lane.runs[place] }));
  });
  places.sort((a, b) => a.run.at - b.run.at || a.index - b.index);
  const found = places.find(({ run, index }) => run.at > at || (run.at === at && index > here)) ?? places[0];
  if (found) chooseAt(score, found.index, () => found.place);
  else score.say(otherwise);
}

const failures = (lane) => lane.failures.map((place) => [lane.at[place], place]);

/** The first run after each. */
const plannerActs = (lane) => lane.flags
  .filter((flag) => flag.by === "planner" && !flag.isRenewal)
  .map((flag) => [flag.at, Math.min(lane.runs.length - 1, firstFrom(lane.at, flag.at))]);
