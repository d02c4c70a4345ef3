// The names of the answers above the lanes, what they are where the pointer is, and their choice.
import { el } from "./dom.js";
import { figureAt } from "./values.js";

export class ValueNames {
  constructor(score) {
    this.score = score;
    this.element = el("div", { className: "side" });
    this.written = "";
  }

  take(data) {
    const text = JSON.stringify([data.values.map((value) => value.key), data.fields]);
    if (text === this.written || this.element.contains(document.activeElement)) return;
    this.written = text;
    this.figures = data.values.map(() => el("small"));
    const rows = data.values.map((value, row) => el("div", { className: "value", title: `From the responses of ${value.endpoint}` }, this.#name(data, value, row), this.figures[row]));
    const of = [...new Set(data.values.map((value) => value.endpoint))].join(", ");
    this.element.replaceChildren(...rows, el("p", { textContent: of ? `responses of ${of}` : "" }));
  }

  #name(data, value, row) {
    if (data.fields.length < 2) return el("b", { textContent: value.field });
    const select = el("select", { "aria-label": `Response value in row ${row + 1}` }, choices(data.fields, value));
    select.addEventListener("change", () => {
      const chosen = data.values.map((other, i) => (i === row ? select.value : other.key));
      select.blur();
      this.score.dispatchEvent(new CustomEvent("values", { detail: [...new Set(chosen)] }));
    });
    return select;
  }

  showFigures(data, at) {
    data.values.forEach((value, row) => {
      const text = figureAt(value, at, data.now), figure = this.figures?.[row];
      if (figure && figure.textContent !== text) figure.textContent = text;
    });
  }
}

/** By endpoint, and by name within. */
function choices(fields, value) {
  const byEndpoint = Object.groupBy(fields, ({ endpoint }) => endpoint);
  return Object.keys(byEndpoint).sort().map((endpoint) => {
    const own = byEndpoint[endpoint].toSorted((a, b) => (a.field < b.field ? -1 : 1));
    return el("optgroup", { label: endpoint }, own.map((field) => el("option", { value: keyOf(field), textContent: field.field, selected: keyOf(field) === value.key })));
  });
}

const keyOf = (field) => `${field.endpoint_id}:${field.path.join(".")}`;
