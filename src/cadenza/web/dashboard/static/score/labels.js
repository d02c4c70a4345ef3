// The names of the lanes that are in sight, with what is so now; the others have no element.
import { el } from "./dom.js";
import { LANE } from "./layout.js";
import { windowAt } from "./windows.js";
import { plural, span } from "./words.js";

export class Labels {
  constructor() {
    this.element = el("div", { className: "side" });
    this.shown = new Map();
  }

  show([first, last], laneAt, chosen, now) {
    for (const [index, label] of this.shown) {
      if (index >= first && index < last) continue;
      label.remove();
      this.shown.delete(index);
    }
    for (let index = first; index < last; index++) this.#show(index, laneAt(index), index === chosen, now);
  }

  #show(index, lane, isChosen, now) {
    let label = this.shown.get(index);
    if (!label) {
      label = el("div", { className: "lane" }, el("a"), el("p"));
      label.style.top = `${index * LANE}px`;
      this.shown.set(index, label);
      this.element.append(label);
    }
    label.classList.toggle("on", isChosen);
    const text = lane ? `${lane.id} ${lane.name} ${stateOf(lane, now).join("|")}` : "…";
    if (label.dataset.text === text) return;
    label.dataset.text = text;
    write(label, lane, now);
  }
}

function write(label, lane, now) {
  const [name, about] = label.children;
  name.textContent = lane?.name ?? "…";
  if (!lane) return;
  name.href = `/endpoints/${lane.id}`;
  name.title = lane.name;
  const [baseline, state, tone] = stateOf(lane, now);
  about.replaceChildren(baseline, ...(state ? [" · ", tone ? el("em", { className: tone, textContent: state }) : state] : []));
}

/** The baseline, and of what is so now that which matters most: [words, words, tone]. */
function stateOf(lane, now) {
  const baseline = lane.interval_ms ? `every ${span(lane.interval_ms)}` : lane.baseline;
  const pause = windowAt(lane, now, ["pause"]), hint = windowAt(lane, now);
  if (pause) return [baseline, pause.to > now + 1e12 ? "paused" : `paused, ${span(pause.to - now)} left`, "pause"];
  if (lane.failure_count) return [baseline, `${plural(lane.failure_count, "failure")} in a row`, "danger"];
  if (hint?.everyMs) return [baseline, `now ${span(hint.everyMs)}, ${span(whole(hint.to - now))} left`, hint.kind];
  if (lane.running) return [baseline, "running", ""];
  if (lane.next_run_at) return [baseline, lane.next_run_at <= now ? "due" : `next in ${span(whole(lane.next_run_at - now))}`, ""];
  return [baseline, lane.min_interval_ms ? `at most every ${span(lane.min_interval_ms)}` : "", ""];
}

const whole = (ms) => Math.max(1000, Math.round(ms / 1000) * 1000);
