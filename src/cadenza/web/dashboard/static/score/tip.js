// What is under the pointer, or chosen by keys, in a few words beside it.
import { describeFlag, describePlanned, describeRun, describeWindow } from "./describe.js";
import { el } from "./dom.js";
import { glyph } from "./glyphs.js";

export class Tip {
  constructor() {
    this.element = el("div", { className: "tip", hidden: true });
  }

  /** `spot`: what is there; `place`: pixels within the score. */
  show(spot, lane, now, place) {
    const about = aboutSpot(spot, lane, now);
    if (!about) return this.hide();
    const mark = about.family === undefined || about.family === null ? null : glyph(about.family, { bad: about.isBad, planned: about.isPlanned });
    this.element.replaceChildren(
      el("h3", {}, mark, about.title),
      el("p", { className: "when", textContent: `${lane.name} · ${about.when}` }),
      ...about.lines.map((line) => el("p", { className: line.isBad ? "bad" : line.isQuiet ? "when" : "", textContent: line.text })),
    );
    this.element.hidden = false;
    this.#place(place);
  }

  hide() {
    this.element.hidden = true;
  }

  /** Beside the place, on the side that has room. */
  #place({ x, y }) {
    const { offsetWidth: width, offsetHeight: height, offsetParent: around } = this.element;
    const left = x + 16 + width > around.clientWidth - 8 ? x - width - 16 : x + 16;
    const top = y + 18 + height > around.clientHeight - 4 ? y - height - 14 : y + 18;
    this.element.style.left = `${Math.max(4, left)}px`;
    this.element.style.top = `${Math.max(4, top)}px`;
  }
}

function aboutSpot(spot, lane, now) {
  if (spot.run !== undefined) return describeRun(lane, spot.run, now);
  if (spot.flag) return describeFlag(spot.flag, now);
  if (spot.planned) return describePlanned(spot.planned, now);
  return spot.window ? describeWindow(spot.window, now) : null;
}
