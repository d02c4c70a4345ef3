// The canvases of the score. What moves with the pointer lies over the lanes on one of its own, so
// that it draws none of them anew.
import { el } from "./dom.js";
import { Frame } from "./frame.js";
import { drawLane } from "./lanes.js";
import { AXIS, LANE, MAP, ROW } from "./layout.js";
import { drawMap, mapColumns } from "./map.js";
import { TimeScale } from "./scale.js";
import { drawAxis, drawValues } from "./values.js";

const SHARPEST = 2; // device pixels a pixel

export class Painter {
  constructor(score) {
    const canvas = () => el("canvas", { "aria-hidden": "true" });
    Object.assign(this, { score, top: canvas(), main: canvas(), over: canvas(), map: canvas(), isStale: true });
  }

  resize(width, height, rows) {
    Object.assign(this, { width, height, rows, ratio: Math.min(SHARPEST, devicePixelRatio || 1), columns: null });
    for (const [canvas, tall] of [[this.top, rows * ROW + AXIS], [this.main, height], [this.over, height], [this.map, MAP]]) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(tall * this.ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${tall}px`;
    }
  }

  paint(sight) {
    if (this.isStale) {
      this.#paintLanes(sight);
      this.#paintMap();
      this.isStale = false;
    }
    this.#paintOver();
    this.#paintTop();
  }

  #frame(canvas, height, isClear = false) {
    const { view, palette, only, data: { now } } = this.score;
    return new Frame(canvas, { scale: new TimeScale(view, this.width), palette, height, ratio: this.ratio, now, only, isClear });
  }

  #paintLanes([first, last]) {
    const { score } = this, frame = (this.frame = this.#frame(this.main, this.height));
    frame.background();
    frame.g.save();
    frame.g.translate(0, -score.scroller.scrollTop);
    for (let index = first; index < last; index++) drawLane(frame, score.laneAt(index), index * LANE, score.chosen?.lane === index);
    frame.g.restore();
    frame.nowLine();
  }

  #paintOver() {
    const frame = this.#frame(this.over, this.height, true), { hover, drag, chosen, scroller } = this.score;
    if (drag) paintDrag(frame, drag);
    else if (hover) paintCursor(frame, hover.at);
    if (hover?.run !== undefined) paintRing(frame, hover.lane, this.score.laneAt(hover.lane)?.at[hover.run], scroller.scrollTop);
    if (chosen?.run) paintRing(frame, chosen.lane, chosen.run.at, scroller.scrollTop);
  }

  #paintTop() {
    const { data, hover } = this.score, frame = this.#frame(this.top, this.rows * ROW + AXIS);
    frame.background();
    drawValues(frame, data.values, data.lanes);
    drawAxis(frame, this.rows * ROW);
    frame.nowLine();
    if (hover) paintCursor(frame, hover.at);
  }

  #paintMap() {
    const { data, view } = this.score;
    this.columns ??= mapColumns(data.lanes, data.range, this.width);
    drawMap(this.#frame(this.map, MAP), data.range, view, this.columns);
  }
}

function paintCursor(frame, at) {
  frame.fill("ink-3", Math.round(frame.scale.x(at)), 0, 1, frame.height, 0.6);
}

function paintDrag(frame, drag) {
  const [left, right] = [drag.from, drag.to].sort((a, b) => a - b);
  frame.fill("focus", left, 0, right - left, frame.height, 0.14);
  for (const x of [left, right]) frame.fill("focus", x, 0, 1, frame.height);
}

function paintRing({ g, scale, palette }, lane, at, scrollTop) {
  g.strokeStyle = palette.focus;
  g.lineWidth = 2;
  g.beginPath();
  g.roundRect(scale.x(at) - 7, lane * LANE - scrollTop + 13, 14, 39, 5);
  g.stroke();
}
