// Mouse, pen and fingers: point for a tip, click for a run, drag to zoom to it, double click for out,
// Ctrl and the wheel to zoom; the wheel alone scrolls the page. Two fingers zoom, one moves.
import { TimeScale, moved } from "./scale.js";

const A_DRAG = 6; // pixels; less is a click
const OUT = 2.5;

export function listenToPointer(score) {
  const { plot } = score;
  const fingers = new Map();
  plot.addEventListener("pointermove", (event) => {
    if (fingers.has(event.pointerId)) slide(score, fingers, event);
    else if (score.drag) drag(score, event);
    else point(score, event);
  });
  plot.addEventListener("pointerleave", () => leave(score));
  plot.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") fingers.set(event.pointerId, event);
    else if (event.button === 0) begin(score, event);
  });
  plot.addEventListener("pointerup", (event) => {
    if (fingers.delete(event.pointerId)) tap(score, fingers, event);
    else end(score, event);
  });
  plot.addEventListener("pointercancel", (event) => { fingers.delete(event.pointerId); score.drag = null; });
  plot.addEventListener("dblclick", () => score.zoom(OUT));
  plot.addEventListener("wheel", (event) => turn(score, event), { passive: false });
  listenOnMap(score);
}

const xOf = (score, event) => event.clientX - score.main.getBoundingClientRect().left;
const atOf = (score, event) => new TimeScale(score.view, score.width).at(xOf(score, event));

function point(score, event) {
  score.hover = score.spotOf(event);
  const { lane, run, flag } = score.hover, box = score.root.getBoundingClientRect();
  score.plot.classList.toggle("pointing", run !== undefined || flag !== undefined);
  const known = score.laneAt(lane);
  if (known) score.tip.show(score.hover, known, score.data.now, { x: event.clientX - box.left, y: event.clientY - box.top });
  score.draw({ over: true });
}

function leave(score) {
  if (score.drag) return;
  score.hover = null;
  score.tip.hide();
  score.draw({ over: true });
}

function begin(score, event) {
  const x = xOf(score, event);
  score.drag = { from: x, to: x };
  score.plot.setPointerCapture(event.pointerId);
}

function drag(score, event) {
  score.drag.to = xOf(score, event);
  score.hover = null;
  score.tip.hide();
  score.draw({ over: true });
}

function end(score, event) {
  const { drag: dragged } = score;
  score.drag = null;
  if (!dragged) return;
  if (Math.abs(dragged.to - dragged.from) <= A_DRAG) return click(score, event);
  const scale = new TimeScale(score.view, score.width);
  score.go({ from: scale.at(Math.min(dragged.from, dragged.to)), to: scale.at(Math.max(dragged.from, dragged.to)) });
}

function click(score, event) {
  const { lane, run, flag } = score.spotOf(event);
  score.choose(lane, run === undefined ? null : score.laneAt(lane).runs[run]);
  if (flag) score.openFlag(flag);
  else score.open();
}

function turn(score, event) {
  const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    score.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.008), atOf(score, event), { smooth: false });
  } else if (isSideways) {
    event.preventDefault();
    score.move((event.deltaX || event.deltaY) / score.width, { smooth: false });
  }
}

// --- Fingers --------------------------------------------------------------------------------------

/** One finger takes the time along; two hold a moment each, and the view fits itself to them. */
function slide(score, fingers, event) {
  const before = fingers.get(event.pointerId), other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
  const scale = new TimeScale(score.view, score.width);
  if (other) {
    const held = scale.at(xOf(score, before)), still = scale.at(xOf(score, other));
    const apart = xOf(score, event) - xOf(score, other);
    if (Math.abs(apart) > 12) score.zoom((xOf(score, before) - xOf(score, other)) / apart, still, { smooth: false });
    score.pinched = held;
  } else score.go(moved(score.view, scale.at(xOf(score, before)) - scale.at(xOf(score, event))), { smooth: false });
  if (Math.abs(event.clientX - before.clientX) > 1) score.hasSlid = true;
  fingers.set(event.pointerId, event);
}

function tap(score, fingers, event) {
  const hasSlid = score.hasSlid;
  if (!fingers.size) score.hasSlid = false;
  if (!hasSlid) click(score, event);
}

// --- The map --------------------------------------------------------------------------------------

function listenOnMap(score) {
  const { mapPlot } = score;
  const pan = (event) => {
    const { range } = score.data, half = (score.view.to - score.view.from) / 2;
    const at = range.from + ((event.clientX - mapPlot.getBoundingClientRect().left) / score.width) * (range.to - range.from);
    score.go({ from: at - half, to: at + half }, { smooth: false });
  };
  mapPlot.addEventListener("pointerdown", (event) => { mapPlot.setPointerCapture(event.pointerId); pan(event); });
  mapPlot.addEventListener("pointermove", (event) => { if (mapPlot.hasPointerCapture(event.pointerId)) pan(event); });
}
