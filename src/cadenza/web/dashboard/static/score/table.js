// The same as a table: always there for a screen reader, in sight for who asks for it.
import { FAMILIES } from "./families.js";
import { because, outcomeOf } from "./describe.js";
import { el } from "./dom.js";
import { failuresOf } from "./story.js";
import { firstFrom } from "./scale.js";
import { moment, plural } from "./words.js";

const MOST = 100, MOST_PLANNED = 20;
const HEADS = ["Slot", "Endpoint", "Cause", "Details", "Outcome"];

export class RunTable {
  constructor(element) {
    this.element = element;
    this.body = el("tbody");
    const heads = el("tr", {}, HEADS.map((text) => el("th", { scope: "col", textContent: text })));
    this.caption = el("caption", { className: "sr" });
    this.around = el("div", { className: "scroll", role: "region", "aria-label": "The runs in view as a table" }, el("table", {}, this.caption, el("thead", {}, heads), this.body));
    element.replaceChildren(this.around);
    this.show(false);
  }

  show(isInSight) {
    this.isInSight = isInSight;
    this.element.classList.toggle("sr", !isInSight);
    this.around.tabIndex = isInSight ? 0 : -1;
    for (const link of this.body.querySelectorAll("a")) link.tabIndex = isInSight ? 0 : -1;
  }

  fill(lanes, view, now) {
    const rows = [...plannedRows(lanes, view, now), ...runRows(lanes, view, now), ...sumRows(lanes)];
    this.caption.textContent = `The runs in view, newest first${rows.length >= MOST ? `; the last ${MOST}` : ""}`;
    this.body.replaceChildren(...rows.map(({ id, cells }) => el("tr", {}, cells.map((text, i) => el("td", {}, id && i === 0 ? this.#link(id, text) : text)))));
  }

  #link(id, text) {
    return el("a", { href: `/runs/${id}`, textContent: text, tabIndex: this.isInSight ? 0 : -1 });
  }
}

function runRows(lanes, view, now) {
  const places = lanes.flatMap((lane) => {
    const last = firstFrom(lane.at, view.to), first = Math.max(firstFrom(lane.at, view.from), last - MOST);
    return Array.from({ length: last - first }, (_, i) => ({ lane, i: first + i }));
  });
  places.sort((a, b) => b.lane.at[b.i] - a.lane.at[a.i]);
  return places.slice(0, MOST).map(({ lane, i }) => ({
    id: lane.runs[i].id,
    cells: [moment(lane.at[i], now), lane.name, FAMILIES[lane.family[i]].name, because(lane, lane.runs[i], lane.family[i]), [outcomeOf(lane, i), lane.runs[i].error].filter(Boolean).join(": ")],
  }));
}

function plannedRows(lanes, view, now) {
  const plans = lanes.flatMap((lane) => lane.planned.filter(({ at }) => at > now && at <= view.to).map((plan) => ({ ...plan, lane })));
  plans.sort((a, b) => a.at - b.at);
  return plans.slice(0, MOST_PLANNED).reverse().map(({ at, family, lane }) => ({ cells: [moment(at, now), lane.name, FAMILIES[family].name, FAMILIES[family].about, "planned"] }));
}

/** Lanes with too many runs to be told one by one. */
function sumRows(lanes) {
  return lanes.filter((lane) => lane.buckets).map((lane) => ({ cells: ["the whole range", lane.name, "", plural(lane.runCount, "run"), `${failuresOf(lane)} failed or timed out`] }));
}
