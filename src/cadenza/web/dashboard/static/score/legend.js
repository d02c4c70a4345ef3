// What the shapes mean, how many there are, and a filter.
import { FAMILIES, TIMED_OUT } from "./families.js";
import { el } from "./dom.js";
import { glyph, sign } from "./glyphs.js";
import { countsOf, failuresOf } from "./story.js";

export class Legend {
  constructor(element, only, onChange) {
    Object.assign(this, { element, only });
    this.counts = FAMILIES.map(() => el("b"));
    this.buttons = FAMILIES.map(({ name, about }, family) => {
      const button = el("button", { type: "button", title: about, "aria-pressed": String(only.has(family)) }, glyph(family), name, " ", this.counts[family]);
      button.addEventListener("click", () => {
        this.only = new Set(this.only.symmetricDifference(new Set([family])));
        this.press();
        onChange(this.only);
      });
      return button;
    });
    this.failed = el("span");
    this.late = el("span");
    const signs = [["failed", this.failed], ["late", this.late], ["hint", "hint in force"], ["pause", "paused"], ["planner", "planner action"], ["person", "action by a person"], ["planned", "planned"]];
    element.replaceChildren(...this.buttons, el("ul", { className: "signs" }, signs.map(([kind, text]) => el("li", {}, sign(kind), text))));
  }

  press(only = this.only) {
    this.only = only;
    this.buttons.forEach((button, family) => button.setAttribute("aria-pressed", String(only.has(family))));
  }

  count(lanes) {
    const totals = lanes.reduce((sums, lane) => countsOf(lane).map((count, family) => sums[family] + count), FAMILIES.map(() => 0));
    totals.forEach((total, family) => { this.counts[family].textContent = total.toLocaleString("en"); });
    const bad = lanes.reduce((sum, lane) => sum + failuresOf(lane), 0);
    const late = lanes.reduce((sum, lane) => sum + lane.status.reduce((count, status) => count + (status === TIMED_OUT ? 1 : 0), 0), 0);
    this.failed.textContent = `failed ${bad - late}`;
    this.late.textContent = `timed out ${late}`;
  }
}
