// The charts of a page: all that are there, and those that an update brings.
import { Chart } from "./chart.js";

const charts = new Map();

function find() {
  for (const figure of document.querySelectorAll("figure.chart")) {
    if (charts.has(figure)) charts.get(figure).update();
    else charts.set(figure, new Chart(figure));
  }
  for (const figure of charts.keys()) if (!figure.isConnected) charts.delete(figure);
}

const drawAll = () => { for (const chart of charts.values()) chart.draw(); };
find();
document.addEventListener("htmx:after:swap", find);
document.body.addEventListener("cadenza:theme", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
