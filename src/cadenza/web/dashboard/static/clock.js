// Relative times ("in 28 s", "3 min ago") go on while a page is open, without asking the server.
// They are counted on the server's clock: that of a person's machine may be wrong.
const FROM_HISTORY = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
let ahead = 0;
let read = FROM_HISTORY ? document.getElementById("main")?.dataset.at : ""; // it may be old

function setClock() {
  const at = document.getElementById("main")?.dataset.at ?? "";
  if (at === read) return;
  read = at;
  ahead = Date.parse(at) - Date.now();
}

const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/** As words.py has it: the two largest parts. */
export function span(seconds) {
  const parts = [];
  let left = Math.floor(Math.abs(seconds));
  for (const [size, unit] of UNITS) {
    const count = Math.floor(left / size);
    left %= size;
    if (count) parts.push(`${count} ${unit}`);
    else if (parts.length) break;
  }
  return parts.slice(0, 2).join(" ");
}

export function relative(at, now = Date.now() + ahead) {
  const seconds = (at - now) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  return seconds > 0 ? `in ${span(seconds)}` : `${span(seconds)} ago`;
}

export function tick(root = document) {
  for (const label of root.querySelectorAll("[data-relative]")) {
    const at = Date.parse(label.parentElement.dateTime);
    const text = relative(at);
    if (label.textContent !== text) label.textContent = text;
  }
}

export function startClock() {
  setClock();
  setInterval(() => { if (!document.hidden) tick(); }, 1000);
  document.addEventListener("htmx:after:swap", () => { setClock(); tick(); });
}
