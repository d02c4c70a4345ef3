// How the score says times, durations and numbers: by the clock of the browser, as the pages do.
export const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const UNITS = [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"], [SECOND, "s"]];
const AROUND = "en-GB";
const exact = new Intl.DateTimeFormat(AROUND, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const short = new Intl.DateTimeFormat(AROUND, { hour: "2-digit", minute: "2-digit" });
const daily = new Intl.DateTimeFormat(AROUND, { weekday: "short", day: "numeric", month: "short" });
const compactly = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const plainly = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

export const clock = (at) => exact.format(at);
export const minute = (at) => short.format(at);
export const day = (at) => daily.format(at);
export const compact = (value) => compactly.format(value);
export const number = (value) => plainly.format(value);

/** The clock's time; with the day where that is another one than today. */
export function moment(at, now) {
  return day(at) === day(now) ? clock(at) : `${day(at)} ${clock(at)}`;
}

/** The two largest parts of a duration: 2 d 3 h, 5 min 20 s, 340 ms. */
export function span(ms) {
  if (Math.abs(ms) < SECOND) return `${Math.round(Math.abs(ms))} ms`;
  if (Math.abs(ms) < 10 * SECOND) return `${(Math.abs(ms) / SECOND).toFixed(1).replace(".0", "")} s`;
  const parts = [];
  let left = Math.round(Math.abs(ms) / SECOND) * SECOND;
  for (const [size, unit] of UNITS) {
    const count = Math.floor(left / size);
    left %= size;
    if (count) parts.push(`${count} ${unit}`);
    else if (parts.length) break;
  }
  return parts.slice(0, 2).join(" ");
}

export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** A reason without the name of the rule that gave it: there is no room for both. */
export const plain = (reason) => String(reason ?? "").replace(/^Rule [^:]*: /, "");
