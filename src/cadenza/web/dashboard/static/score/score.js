// The score of a job: a lane for each endpoint, a mark for each run, what bent them, what is planned.
// A canvas for the marks; names, tip and what is said aloud are elements.
import { describeRun } from "./describe.js";
import { el } from "./dom.js";
import { listenToKeys } from "./keys.js";
import { Labels } from "./labels.js";
import { LANE, inSight } from "./layout.js";
import { Painter } from "./painter.js";
import { paletteOf } from "./palette.js";
import { listenToPointer } from "./pointer.js";
import { TimeScale, moved, within, zoomed } from "./scale.js";
import { spotAt } from "./spots.js";
import { Tip } from "./tip.js";
import { ValueNames } from "./value-names.js";
import { plural } from "./words.js";

const SMOOTH_MS = 180;

export class Score extends EventTarget {
  constructor(root, data) {
    super();
    Object.assign(this, { root, data, only: new Set(), hover: null, chosen: null, drag: null, view: { ...data.range }, aim: null, isFollowing: true });
    this.#build();
    this.takeColours();
    data.addEventListener("changed", () => this.#takeData());
    new ResizeObserver(() => this.resize()).observe(root);
    this.#takeData();
    this.resize();
  }

  #build() {
    Object.assign(this, { painter: new Painter(this), labels: new Labels(), names: new ValueNames(this), tip: new Tip() });
    const { top, main, over, map } = this.painter;
    this.main = main;
    this.plot = el("div", { className: "plot", tabIndex: 0, role: "application", "aria-roledescription": "score", "aria-describedby": "score-keys" }, el("div", { className: "sheets" }, main, over));
    this.scroller = el("div", { className: "grid lanes" }, this.labels.element, this.plot);
    this.mapPlot = el("div", { className: "plot" }, map);
    this.spoken = el("div", { className: "sr", "aria-live": "polite" });
    this.root.replaceChildren(
      el("div", { className: "grid values" }, this.names.element, el("div", {}, top)),
      this.scroller,
      el("div", { className: "grid map" }, el("div", { className: "side", textContent: "the whole range" }), this.mapPlot),
      this.spoken,
      this.tip.element,
    );
    this.scroller.addEventListener("scroll", () => { this.draw(); this.dispatchEvent(new Event("looked")); });
    listenToPointer(this);
    listenToKeys(this);
  }

  takeColours() {
    this.palette = paletteOf(this.root);
    this.draw();
  }

  #takeData() {
    if (this.isFollowing) this.view = { ...this.data.range };
    this.painter.columns = null;
    const height = `${this.data.total * LANE}px`;
    this.labels.element.style.height = this.plot.style.height = height;
    this.plot.setAttribute("aria-label", `Score of ${this.data.job.name}: ${plural(this.data.total, "endpoint")}. Left and right go from run to run, up and down from endpoint to endpoint.`);
    this.names.take(this.data);
    if (this.rows !== this.data.values.length || this.total !== this.data.total) this.resize();
    this.draw();
  }

  // --- Drawing ------------------------------------------------------------------------------------

  resize() {
    const { values, total } = this.data;
    Object.assign(this, { rows: values.length, total, width: Math.max(120, this.plot.clientWidth), height: Math.min(total * LANE, this.scroller.clientHeight || 900) });
    this.painter.resize(this.width, this.height, this.rows);
    this.draw();
  }

  /** In the next frame; `over`: only what lies over the lanes has changed. */
  draw({ over = false } = {}) {
    this.painter.isStale ||= !over;
    this.drawing ??= requestAnimationFrame(() => { this.drawing = undefined; this.paint(); });
  }

  paint() {
    const { sight } = this;
    this.labels.show(sight, (index) => this.data.lanes[index], this.chosen?.lane ?? -1, this.data.now);
    this.painter.paint(sight);
    this.names.showFigures(this.data, this.hover?.at ?? null);
  }

  get sight() {
    return inSight(this.scroller.scrollTop, this.height, this.data.total);
  }

  laneAt(index) {
    return this.data.seen(index, this.view);
  }

  // --- Moving -------------------------------------------------------------------------------------

  /** To another part of the range. `aim` is where it is on its way to: a second key goes on from there. */
  go(view, { smooth = true } = {}) {
    const to = within(view, this.data.range), { range } = this.data;
    this.isFollowing = to.from <= range.from + 1 && to.to >= range.to - 1;
    this.aim = to;
    cancelAnimationFrame(this.flight);
    if (!smooth || matchMedia("(prefers-reduced-motion: reduce)").matches) this.#arrive(to);
    else this.#fly({ ...this.view }, to);
  }

  #fly(from, to) {
    const began = performance.now();
    const step = (at) => {
      const part = Math.min(1, (at - began) / SMOOTH_MS), eased = 1 - (1 - part) ** 3;
      if (part === 1) return this.#arrive(to);
      this.view = { from: from.from + (to.from - from.from) * eased, to: from.to + (to.to - from.to) * eased };
      this.draw();
      this.flight = requestAnimationFrame(step);
    };
    this.flight = requestAnimationFrame(step);
  }

  #arrive(view) {
    this.view = view;
    this.aim = null;
    this.draw();
    this.dispatchEvent(new Event("looked"));
  }

  zoom(factor, around = this.chosen?.run?.at, options) {
    const isWhole = this.isFollowing && factor > 1;
    if (isWhole) this.dispatchEvent(new CustomEvent("wider", { detail: factor }));
    else this.go(zoomed(this.aim ?? this.view, factor, around), options);
  }

  move(share, options) {
    const view = this.aim ?? this.view;
    this.go(moved(view, (view.to - view.from) * share), options);
  }

  fit() {
    this.go(this.data.range);
  }

  show(only) {
    this.only = only;
    this.draw();
  }

  // --- Choosing -----------------------------------------------------------------------------------

  /** What is at a place of the window. */
  spotOf({ clientX, clientY }) {
    const box = this.main.getBoundingClientRect(), y = clientY - box.top + this.scroller.scrollTop;
    const lane = Math.min(this.data.total - 1, Math.max(0, Math.floor(y / LANE)));
    return { lane, ...spotAt(this.painter.frame, this.laneAt(lane), clientX - box.left, y - lane * LANE) };
  }

  choose(lane, run = null) {
    this.chosen = lane === null ? null : { lane, run };
    if (!this.chosen) this.tip.hide();
    this.draw();
    this.dispatchEvent(new Event("chosen"));
  }

  /** The place of the chosen run in its lane as it is known now; -1 for none. */
  get place() {
    if (!this.chosen?.run) return -1;
    return this.laneAt(this.chosen.lane)?.runs.findIndex((run) => run.id === this.chosen.run.id) ?? -1;
  }

  open() {
    if (this.chosen?.run) this.dispatchEvent(new CustomEvent("opened", { detail: this.chosen }));
  }

  openFlag(flag) {
    if (flag.session_id) this.dispatchEvent(new CustomEvent("flag", { detail: flag }));
  }

  /** Brings what is chosen into sight, and says what it is. */
  reveal() {
    const { lane, run } = this.chosen, top = lane * LANE;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + LANE > this.scroller.scrollTop + this.height) this.scroller.scrollTop = top + LANE - this.height;
    if (run && (run.at < this.view.from || run.at > this.view.to)) this.go(moved(this.view, run.at - (this.view.from + this.view.to) / 2));
    this.#say();
  }

  #say() {
    const lane = this.laneAt(this.chosen.lane), place = this.place;
    if (place < 0) return this.say(`${lane?.name ?? "This endpoint"}: no run here`);
    const about = describeRun(lane, place, this.data.now);
    this.say(`${lane.name}: ${about.title}, ${about.when}. ${about.lines.map(({ text }) => text).join(". ")}`);
    requestAnimationFrame(() => this.#tipAtChosen(lane, place));
  }

  #tipAtChosen(lane, run) {
    if (!this.chosen?.run) return;
    const box = this.root.getBoundingClientRect(), main = this.main.getBoundingClientRect();
    const x = main.left - box.left + new TimeScale(this.view, this.width).x(this.chosen.run.at);
    this.tip.show({ run }, lane, this.data.now, { x, y: main.top - box.top + this.chosen.lane * LANE - this.scroller.scrollTop + 20 });
  }

  say(text) {
    this.spoken.textContent = text;
  }
}
