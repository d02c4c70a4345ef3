// What is known of a job: asked for in pages of lanes, anew for another range, in full for a part
// that is looked at closely, and only the end of it when something happened.
import { openSince, renewed, renewedValue, scoreOf } from "./model.js";
import { DAY, SECOND } from "./words.js";

const FIRST_LANES = 50; // in the first answer
const MORE_LANES = 200; // in each later one, as far as somebody scrolls
const MARGIN = 15 * SECOND; // how far back an update looks: clocks of workers, answers on their way
const OF_BUCKETS = 15 * SECOND; // between two updates of lanes that come in buckets
export const WIDEST = 31 * DAY;

export class ScoreData extends EventTarget {
  /** `endpoint`: the only lane to show, on the page of an endpoint; `now`: by the server's clock. */
  constructor(address, { now, endpoint = null, chosen = [] }) {
    super();
    Object.assign(this, { address, endpoint, chosen, lanes: [], total: 0, values: [], fields: [] });
    this.details = new Map();
    this.clockAhead = now - Date.now();
    this.updatedAt = 0;
    this.frozenAt = null; // where live updates are paused, time stands still
  }

  get now() {
    return this.frozenAt ?? Date.now() + this.clockAhead;
  }

  /** Everything anew, for this range. */
  async load(range) {
    const score = await this.#ask({ ...range, lanes: FIRST_LANES, fields: true, ...this.#only() });
    this.details.clear();
    this.#keep(score);
    this.total = score.total;
    this.lanes = score.lanes;
    this.next = score.next;
    this.dispatchEvent(new Event("changed"));
  }

  /** Lanes up to this number, page after page. */
  async reach(last) {
    this.#reached = Math.max(this.#reached, last);
    if (this.#isReaching) return;
    this.#isReaching = true;
    try {
      while (this.next && this.lanes.length < this.#reached) await this.#readMore();
    } finally {
      this.#isReaching = false;
    }
  }

  async #readMore() {
    const { next } = this, score = await this.#ask({ ...this.range, lanes: MORE_LANES, cursor: next });
    if (next !== this.next) return; // everything was read anew meanwhile
    this.lanes = [...this.lanes, ...score.lanes];
    this.next = score.next;
    this.dispatchEvent(new Event("changed"));
  }

  /** Runs one by one where the range has too many of them and the view fewer. */
  async look(view, lanes) {
    const wide = { from: view.from - (view.to - view.from) / 2, to: view.to + (view.to - view.from) / 2 };
    const coarse = lanes.filter((lane) => lane.buckets && !covers(this.details.get(lane.id), view));
    if (!coarse.length || view.to - view.from > (this.range.to - this.range.from) / 2) return;
    const score = await this.#ask({ ...wide, ...these(coarse) });
    for (const lane of score.lanes) this.details.set(lane.id, { lane, ...score.range });
    this.dispatchEvent(new Event("changed"));
  }

  /** The lane as it is known best for a view. */
  seen(index, view) {
    const lane = this.lanes[index];
    const detail = lane?.buckets && this.details.get(lane.id);
    return detail && covers(detail, view) ? detail.lane : lane;
  }

  /** Something has happened since this lane was read: it was not in sight then. */
  isOutdated(lane) {
    return lane.freshAt < this.updatedAt;
  }

  /** What has happened since, in the lanes that are in sight; `range` may have moved on, and what is
   * older than `from` is forgotten. */
  async update(range, lanes, from) {
    const exact = lanes.filter((lane) => !lane.buckets), coarse = lanes.filter((lane) => lane.buckets && this.now - lane.freshAt > OF_BUCKETS);
    if (coarse.length) this.#replace(await this.#ask({ ...range, ...these(coarse) }));
    if (exact.length) {
      const since = Math.max(from, openSince(exact, MARGIN));
      const score = await this.#ask({ from: since, to: range.to, ...these(exact) });
      this.#keep({ ...score, range, values: this.#renewValues(score, since) });
      this.#replace(score, (lane, later) => renewed(lane, later, since, from));
      this.updatedAt = score.at;
    }
    this.dispatchEvent(new Event("changed"));
  }

  async choose(chosen) {
    this.chosen = chosen;
    await this.load(this.range);
  }

  #isReaching = false;
  #reached = 0;

  #only() {
    return this.endpoint ? { endpoint: [this.endpoint] } : {};
  }

  #keep(score) {
    Object.assign(this, { job: score.job, range: score.range });
    this.values = score.values;
    if (score.fields.length) this.fields = score.fields;
    this.clockAhead = score.at - Date.now();
  }

  #replace(score, merged = (_, later) => later) {
    const later = new Map(score.lanes.map((lane) => [lane.id, lane]));
    this.lanes = this.lanes.map((lane) => (later.has(lane.id) ? merged(lane, later.get(lane.id)) : lane));
  }

  /** The same fields as before: what moves most in the last minute may be another one. */
  #renewValues(score, since) {
    if (!this.values.length) return score.values;
    const later = new Map(score.values.map((value) => [value.key, value]));
    return this.values.map((value) => (later.has(value.key) ? renewedValue(value, later.get(value.key), since) : value));
  }

  async #ask({ from, to, endpoint = [], ...more }) {
    const query = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
    for (const [name, value] of Object.entries(more)) query.set(name, value);
    for (const id of endpoint) query.append("endpoint", id);
    for (const value of this.chosen) query.append("value", value);
    const response = await fetch(`${this.address}?${query}`, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new ScoreRefused(response.status, await messageOf(response));
    return scoreOf(await response.json());
  }
}

const these = (lanes) => ({ endpoint: lanes.slice(0, MORE_LANES).map((lane) => lane.id), lanes: Math.min(MORE_LANES, lanes.length) });
const covers = (detail, view) => detail && detail.from <= view.from && view.to <= detail.to;

export class ScoreRefused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function messageOf(response) {
  try {
    return (await response.json()).detail;
  } catch {
    return `The server answered ${response.status}.`;
  }
}
