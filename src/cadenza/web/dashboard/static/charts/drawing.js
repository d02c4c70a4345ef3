// How a chart looks: bars on top of each other, or lines told apart by colour and dash.
import uPlot from "../vendor/uPlot.esm.js";
import { DAY, clock, compact, day, minute, span } from "../score/words.js";

const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3]];
const HEIGHT = 190;
const WHOLE = [1, 2, 5].flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power)).sort((one, other) => one - other); // bars are counts
const say = { ms: (value) => (value === 0 ? "0" : span(value)), cost: (value) => `$${compact(value)}` };

export const figureWords = (value, unit) => (value === null || value === undefined ? "–" : (say[unit] ?? compact)(value));

/** Bars stand on those before them; what is drawn first is the sum, and the parts cover it. */
export function stacked({ series, columns }) {
  const sums = new Array(columns[0]?.length ?? 0).fill(0);
  const drawn = { bar: (value, k) => (sums[k] += value ?? 0), dots: (value) => value || null };
  return columns.map((column, i) => column.map(drawn[series[i].kind] ?? ((value) => value)));
}

export function optionsOf({ series, times }, width, element) {
  const style = getComputedStyle(element), token = (name) => style.getPropertyValue(`--${name}`).trim();
  const font = `500 11px ${token("font")}`, days = times.length > 1 && times[1] - times[0] >= DAY / 1000;
  const axis = { stroke: token("ink-3"), font, grid: { stroke: token("rule"), width: 1 }, ticks: { show: false } };
  return {
    width,
    height: HEIGHT,
    padding: [null, days ? 44 : 28, null, null], // the last time is told in full
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { x: { range: (chart) => wholeRange(chart.data[0]) }, y: { range: fromZero }, own: { range: fromZero } },
    axes: [
      { ...axis, size: 30, space: days ? 84 : 50, grid: { show: false }, values: (_, ticks) => ticks.map((at) => timeWords(at * 1000, days, ticks)) },
      { ...axis, size: 62, ...(series.some(({ kind }) => kind === "bar") ? { incrs: WHOLE } : {}), values: (_, ticks) => ticks.map((value) => figureWords(value, series[0]?.unit)) },
      ...series.filter(hasOwnScale).map(({ unit }) => ({ ...axis, scale: "own", side: 1, size: 62, grid: { show: false }, values: (_, ticks) => ticks.map((value) => figureWords(value, unit)) })),
    ],
    series: [{}, ...series.map((each, i) => seriesOf(each, i, token))],
  };
}

const hasOwnScale = ({ own }) => own !== undefined;
const fromZero = (_, low, high) => [0, (high || 1) * 1.08];

/** From the first to the last; a time that stands alone in the middle of two minutes. */
const wholeRange = (times) => (times.length > 1 ? [times[0], times.at(-1)] : [times[0] - 60, times[0] + 60]);

function timeWords(at, days, ticks) {
  if (days || ticks.at(-1) - ticks[0] > (3 * DAY) / 1000) return day(at);
  return ticks.length > 1 && ticks[1] - ticks[0] < 60 ? clock(at) : minute(at);
}

function seriesOf({ name, kind, own, token: colour }, i, token) {
  const stroke = token(colour ?? "ink-2"), scale = own === undefined ? "y" : "own";
  if (kind === "bar") return { label: name, stroke, fill: stroke, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.82, 26], gap: 1 }) };
  if (kind === "dots") return { label: name, scale, stroke, width: 0, paths: () => null, points: { show: true, size: 7, width: 2, stroke, fill: token("paper-raised") } };
  return { label: name, scale, stroke, width: 1.6, dash: DASHES[i % DASHES.length], spanGaps: false, points: { size: 4, fill: stroke } };
}
