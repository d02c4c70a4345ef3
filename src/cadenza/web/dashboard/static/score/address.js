// Range, zoom, filter and choice in the address: back, reload and a link show the same.
import { FAMILIES } from "./families.js";
import { DAY, HOUR, MINUTE } from "./words.js";

/** How far back a range goes; zooming out goes from one to the next. */
export const RANGES = { "5m": 5 * MINUTE, "15m": 15 * MINUTE, "1h": HOUR, "3h": 3 * HOUR, "12h": 12 * HOUR, "24h": DAY, "3d": 3 * DAY, "7d": 7 * DAY, "26d": 26 * DAY };
const USUAL = "1h"; // of a job that is not new: it is not worth a word in the address
const AHEAD = 6; // a sixth of it is in the future

export function rangeOf(name, now) {
  const back = RANGES[name];
  return { from: now - back, to: now + back / AHEAD };
}

export function widerThan(name, factor = 1) {
  const names = Object.keys(RANGES), wanted = RANGES[name] * factor;
  return names.find((other) => RANGES[other] > RANGES[name] && RANGES[other] >= wanted * 0.9) ?? names.at(-1);
}

/** `usual`: the range where none is asked for. */
export function readAddress(now, usual) {
  const query = new URLSearchParams(location.search), view = readView(query.get("view"));
  const asked = query.get("range"), range = asked in RANGES ? asked : usual;
  const only = (query.get("only") ?? "").split(",").map((key) => FAMILIES.findIndex((family) => family.key === key));
  return {
    range: view && view.from < now - RANGES[range] ? reaching(view.from, now) : range,
    view,
    run: query.get("run"),
    only: new Set(only.filter((family) => family >= 0)),
    values: query.getAll("value").slice(0, 2),
  };
}

/** A link may be older than the range it was made in. */
function reaching(from, now) {
  return Object.keys(RANGES).find((name) => now - RANGES[name] <= from) ?? Object.keys(RANGES).at(-1);
}

function readView(text) {
  const [from, to] = (text ?? "").split("~").map((part) => Date.parse(part));
  return from < to ? { from, to } : null;
}

const written = ({ from, to }) => [from, to].map((at) => new Date(at).toISOString().replace(/\.\d+Z/, "Z")).join("~");

/** `isStep`: something to come back from. */
export function writeAddress({ range, view, run, only, values }, isStep) {
  const query = new URLSearchParams(location.search);
  const put = (name, value) => (value ? query.set(name, value) : query.delete(name));
  put("range", range === USUAL ? "" : range);
  put("view", view && written(view));
  put("run", run);
  put("only", [...only].map((family) => FAMILIES[family].key).join(","));
  query.delete("value");
  for (const value of values) query.append("value", value);
  const text = query.toString().replaceAll("%3A", ":").replaceAll("%7E", "~").replaceAll("%2C", ",");
  const address = `${location.pathname}${text ? `?${text}` : ""}`;
  if (address === location.pathname + location.search) return;
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
