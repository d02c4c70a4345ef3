// A chart beside its table: drawn from it, drawn anew when it changes, with what is under the pointer.
import uPlot from "../vendor/uPlot.esm.js";
import { el } from "../score/dom.js";
import { figureWords, optionsOf, stacked } from "./drawing.js";
import { readTable } from "./table-data.js";

export class Chart {
  constructor(figure) {
    this.figure = figure;
    this.plot = figure.querySelector(".chart-plot");
    this.names = figure.querySelector(".chart-names");
    new ResizeObserver(() => this.draw()).observe(this.plot);
  }

  /** Everything anew: another theme, width or set of columns. */
  draw() {
    const data = readTable(this.figure.querySelector("table"));
    this.shape = JSON.stringify(data.series);
    this.chart?.destroy();
    if (!data.series.length || !this.plot.clientWidth) return;
    this.data = data;
    const options = optionsOf(data, this.plot.clientWidth, this.figure);
    options.hooks = { setCursor: [(chart) => this.#name(chart.cursor.idx)] };
    const [time, ...series] = options.series;
    this.chart = new uPlot({ ...options, series: [time, ...this.#inOrder(series)] }, this.#drawn(), this.plot);
    this.#name(null);
  }

  /** The table may have other numbers. */
  update() {
    const data = readTable(this.figure.querySelector("table"));
    if (JSON.stringify(data.series) !== this.shape || !this.chart) return this.draw();
    this.data = data;
    this.chart.setData(this.#drawn());
    this.#name(null);
  }

  #drawn() {
    return [this.data.times, ...this.#inOrder(stacked(this.data))];
  }

  /** The sums of stacked bars from the highest on, so that lower ones cover them; the rest on top. */
  #inOrder(list) {
    const isBar = (_, i) => this.data.series[i].kind === "bar";
    return [...list.filter(isBar).reverse(), ...list.filter((each, i) => !isBar(each, i))];
  }

  #name(place) {
    const items = this.data.series.map(({ name, unit, token, kind }, i) => el("li", { className: `c-${token ?? "ink-2"} k-${kind ?? "line"} d-${i % 4}` }, el("i", { "aria-hidden": "true" }), name, " ", el("b", { textContent: figureWords(place === null || place === undefined ? total(this.data.columns[i], kind) : this.data.columns[i][place], unit) })));
    this.names.replaceChildren(...items);
  }
}

/** Without a pointer: the last of a line's, all of the others'. */
function total(column, kind = "line") {
  return kind !== "line" ? column.reduce((sum, value) => sum + (value ?? 0), 0) : column.findLast((value) => value !== null) ?? null;
}
