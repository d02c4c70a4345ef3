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
  item.append(time, kind);
  const name = event.data.endpoint_name ?? event.data.job_name ?? (event.kind.startsWith("incident.") ? event.data.name : null);
  if (event.endpoint_id) item.append(link(`/endpoints/${event.endpoint_id}`, name ?? "endpoint"));
  else if (event.job_id) item.append(link(`/jobs/${event.job_id}`, name ?? "job"));
  item.append(details(event, name === event.data.name && (event.endpoint_id || event.job_id)));
  if (event.data.run_id && event.endpoint_id) item.append(link(`/runs/${event.data.run_id}`, "run", "end"));
  else if (event.data.session_id) item.append(link(`/planner/${event.data.session_id}`, "session", "end"));
  return item;
}

// What is in the sentence already, or told by a link; ids and instants are for programs.
const LEFT_OUT = /_id$|_at$|^(endpoint_name|job_name|status|kind|source)$/;
const SAY = {
  status_code: (value) => value,
  error_kind: (value) => (value === "status" ? "" : value),
  failure_count: (value) => (value > 1 ? `${value} in a row` : ""),
  severity: (value) => value,
  detail: (value) => value,
  hint_by: (value) => `hint by a ${value}`,
  by: (value) => `by ${value}`,
  reason: (value) => `“${value}”`,
};

function details(event, isNamed) {
  const text = document.createElement("span");
  text.className = "quiet";
  const shown = Object.entries(event.data).filter(([name, value]) => !LEFT_OUT.test(name) && !(isNamed && name === "name") && value !== null && value !== "" && typeof value !== "object");
  const words = shown.map(([name, value]) => (SAY[name] ? SAY[name](value) : `${name.replaceAll("_", " ")}: ${value}`));
  text.textContent = words.filter((word) => word !== "").join(" · ").slice(0, 300);
  return text;
}

function link(path, text, where = "name") {
  const anchor = document.createElement("a");
  anchor.href = path;
  anchor.className = where;
  anchor.textContent = text;
  return anchor;
}
