// The numbers of a chart, from the table that says the same in words.

/** Columns over time, oldest first; what is not known is null. */
export function readTable(table) {
  const series = [...table.tHead.rows[0].cells].slice(1).map((head) => ({ name: head.textContent.trim(), ...head.dataset }));
  const rows = [...table.tBodies[0].rows].map((row) => ({ at: Date.parse(row.querySelector("time").dateTime) / 1000, cells: row.cells }));
  rows.sort((a, b) => a.at - b.at);
  const columns = series.map((_, i) => rows.map(({ cells }) => figure(cells[i + 1])));
  return { series, times: rows.map(({ at }) => at), columns };
}

const figure = (cell) => (cell.dataset.value ? Number(cell.dataset.value) : null);
