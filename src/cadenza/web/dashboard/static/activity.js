// The list of what happens now, on the page of activity; built from text alone.
import { relative } from "./clock.js";

const MOST = 50;

export function startActivity() {
  document.body.addEventListener("cadenza:news", ({ detail }) => {
    const list = document.getElementById("happening-list");
    if (!list) return;
    document.getElementById("happening-empty").hidden = true;
    for (const event of detail.last) list.prepend(row(event));
    while (list.children.length > MOST) list.lastElementChild.remove();
  });
}

function row(event) {
  const item = document.createElement("li");
  const time = document.createElement("time");
  time.className = "moment";
  time.dateTime = event.at;
  const label = document.createElement("span");
  label.dataset.relative = "";
  label.textContent = relative(Date.parse(event.at));
  time.append(label);
  const kind = document.createElement("b");
  kind.textContent = event.kind.replaceAll(".", " ").replaceAll("-", " ");
  item.append(time, kind, details(event));
  if (event.endpoint_id) item.append(link(`/endpoints/${event.endpoint_id}`, "endpoint"));
  else if (event.job_id) item.append(link(`/jobs/${event.job_id}`, "job"));
  return item;
}

function details(event) {
  const text = document.createElement("span");
  text.className = "quiet";
  const shown = Object.entries(event.data).filter(([, value]) => value !== null && value !== "" && typeof value !== "object");
  text.textContent = shown.map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`).join("; ").slice(0, 300);
  return text;
}

function link(path, text) {
  const anchor = document.createElement("a");
  anchor.href = path;
  anchor.className = "end";
  anchor.textContent = text;
  return anchor;
}
