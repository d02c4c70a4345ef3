// The score on a page: its tools, legend, story and table around it; live; all of it in the address.
import { rangeOf, readAddress, widerThan, writeAddress } from "./address.js";
import { ScoreData } from "./data.js";
import { Legend } from "./legend.js";
import { Score } from "./score.js";
import { tellStory } from "./story.js";
import { RunTable } from "./table.js";
import { Why } from "./why.js";

const SETTLED_MS = 250; // after a zoom or a scroll, before anything is asked for
const OF_LANES = /^(endpoint\.(create|change|archive|delete|restore)|manifest\.)/;
const part = (name) => document.getElementById(`score-${name}`);

export async function startScore(section) {
  const data = new ScoreData(section.dataset.score, { now: Date.parse(section.dataset.now), endpoint: section.dataset.lane ?? null });
  const page = new ScorePage(section, data);
  await page.begin();
  return page;
}

class ScorePage {
  constructor(section, data) {
    Object.assign(this, { section, data, settling: 0, isAsking: false });
    this.why = new Why(part("why"), () => { this.run = null; this.keep(); this.score.plot.focus(); });
    this.table = new RunTable(part("table"));
  }

  async begin() {
    this.take(readAddress(this.data.now, this.section.dataset.range));
    this.legend = new Legend(part("legend"), this.only, (only) => { this.only = only; this.score.show(only); this.keep(); });
    if (!(await this.load())) return;
    this.draw();
    this.listen();
    if (this.run) this.restoreRun();
  }

  /** What the address says. */
  take({ range, view, run, only, values }) {
    Object.assign(this, { range, wanted: view, run, only });
    this.data.chosen = values;
  }

  draw() {
    this.score = new Score(part("picture"), this.data);
    this.score.show(this.only);
    if (this.wanted) this.score.go(this.wanted, { smooth: false });
    this.score.addEventListener("looked", () => this.settle());
    this.score.addEventListener("wider", ({ detail }) => this.setRange(widerThan(this.range, detail)));
    this.score.addEventListener("opened", ({ detail: { run } }) => { this.run = run.id; this.keep(); this.why.show(run.id).then(() => this.bringWhy()); });
    this.score.addEventListener("chosen", () => { if (!this.score.chosen) { this.run = null; this.why.hide(); this.keep(); } });
    this.score.addEventListener("flag", ({ detail }) => location.assign(`/planner/${detail.session_id}`));
    this.score.addEventListener("values", ({ detail }) => this.tryTo(() => this.data.choose(detail)).then(() => this.keep()));
    this.data.addEventListener("changed", () => this.tell());
    this.tell();
    this.section.dataset.ready = "yes";
  }

  listen() {
    part("tools").addEventListener("click", ({ target }) => {
      const { range, act } = target.closest("button")?.dataset ?? {};
      if (range) this.setRange(range);
      const acts = { in: () => this.score.zoom(0.5), out: () => this.score.zoom(2), fit: () => this.score.fit(), table: () => this.showTable(target) };
      acts[act]?.();
    });
    addEventListener("popstate", () => this.comeBack());
    document.body.addEventListener("cadenza:changed", () => this.update());
    document.body.addEventListener("cadenza:news", ({ detail }) => { this.hasOtherLanes ||= Object.keys(detail.kinds).some((kind) => OF_LANES.test(kind)); });
    document.body.addEventListener("cadenza:theme", () => this.score.takeColours());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.score.takeColours());
    setInterval(() => this.tick(), 1000);
  }

  // --- Reading ------------------------------------------------------------------------------------

  get moving() {
    return rangeOf(this.range, this.data.now);
  }

  load() {
    return this.tryTo(() => this.data.load(this.moving));
  }

  async tryTo(act) {
    try {
      await act();
      this.section.removeAttribute("aria-busy");
      return true;
    } catch (error) {
      this.tellTrouble(error);
      return false;
    }
  }

  tellTrouble(error) {
    const text = error.status === 401 ? "You are signed out: reload the page to sign in again." : `The score could not be read. ${error.status ? error.message : "Is the server there?"}`;
    part("story").textContent = text;
  }

  /** Something has happened: read the end of it, one request at a time. */
  async update() {
    if (this.isAsking || this.data.frozenAt !== null) return;
    this.isAsking = true;
    await this.tryTo(() => (this.hasOtherLanes ? this.loadLanes() : this.data.update(this.moving, this.lanesInSight, this.oldest)));
    this.isAsking = false;
  }

  /** Endpoints have come or gone. */
  async loadLanes() {
    this.hasOtherLanes = false;
    await this.data.load(this.moving);
    await this.data.reach(this.score.sight[1]);
  }

  get lanesInSight() {
    const [first, last] = this.score.sight;
    return this.data.lanes.slice(first, last);
  }

  /** Before this, nobody looks. */
  get oldest() {
    return Math.min(this.moving.from, this.score.view.from);
  }

  /** Time goes on, unless live updates are paused. */
  tick() {
    const isPaused = document.getElementById("live")?.dataset.state === "paused";
    if (isPaused) this.data.frozenAt ??= this.data.now;
    else if (this.data.frozenAt !== null) { this.data.frozenAt = null; this.update(); }
    if (document.hidden || isPaused) return;
    this.data.range = this.moving;
    if (this.score.isFollowing) this.score.view = { ...this.data.range };
    this.score.draw();
    if (!this.data.lanes.some((lane) => lane.runCount)) this.tellStory();
  }

  async setRange(range) {
    this.range = range;
    this.score.isFollowing = true;
    await this.load();
    this.keep(true);
  }

  /** A zoom or a scroll has come to its end: what it shows is read, and kept in the address. */
  settle() {
    clearTimeout(this.settling);
    this.tryTo(() => this.data.reach(this.score.sight[1]));
    this.settling = setTimeout(async () => {
      this.keep(!this.isComingBack);
      this.isComingBack = false;
      this.tell();
      await this.tryTo(() => this.data.look(this.score.view, this.lanesInSight));
      if (this.lanesInSight.some((lane) => this.data.isOutdated(lane))) await this.update();
    }, SETTLED_MS);
  }

  // --- Telling ------------------------------------------------------------------------------------

  tell() {
    const { lanes, now } = this.data, { view } = this.score;
    this.section.dataset.empty = lanes.length ? "no" : "yes";
    this.tellStory();
    this.legend.count(lanes);
    this.table.fill(lanes.map((_, index) => this.score.laneAt(index)), view, now);
    for (const button of part("tools").querySelectorAll("[data-range]")) button.setAttribute("aria-pressed", String(button.dataset.range === this.range));
  }

  tellStory() {
    part("story").replaceChildren(...tellStory(this.data));
  }

  showTable(button) {
    const isInSight = !this.table.isInSight;
    this.table.show(isInSight);
    button.setAttribute("aria-pressed", String(isInSight));
  }

  bringWhy() {
    part("why").scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }

  // --- The address --------------------------------------------------------------------------------

  keep(isStep = false) {
    const view = this.score.isFollowing ? null : this.score.view;
    writeAddress({ range: this.range, view, run: this.run, only: this.only, values: this.data.chosen }, isStep);
  }

  async comeBack() {
    const { range } = this;
    this.isComingBack = true;
    this.take(readAddress(this.data.now, this.section.dataset.range));
    if (this.range !== range) await this.load();
    this.legend.press(this.only);
    this.score.show(this.only);
    this.score.go(this.wanted ?? this.data.range);
    if (this.run) this.restoreRun();
    else this.score.choose(null);
  }

  restoreRun() {
    this.data.lanes.forEach((lane, index) => {
      const run = lane.runs.find(({ id }) => id === this.run);
      if (run) this.score.choose(index, run);
    });
    this.why.show(this.run);
  }
}

const section = document.getElementById("score");
if (section?.dataset.score?.endsWith(".json")) startScore(section);
