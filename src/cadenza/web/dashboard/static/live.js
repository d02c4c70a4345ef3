// Live updates: one stream for all tabs; a tab that hears of news draws its page anew by morphing.
import { connect } from "./shared-stream.js";

const PAUSED = "cadenza_live_paused"; // of this tab, until it is closed
const LEAST_MS = 1000; // between two drawings
const WORDS = { live: "Live", paused: "Paused", cut: "Disconnected", off: "Live" };
let state = "off";
let isStale = false; // there are news that this tab has not drawn
let drawnAt = 0;
let waiting = 0;
let stream;

export function startLive() {
  const button = document.getElementById("live");
  button.hidden = false;
  button.addEventListener("click", toggleLive);
  document.addEventListener("visibilitychange", follow);
  document.addEventListener("htmx:after:swap", showFailing);
  follow();
}

export function toggleLive() {
  if (sessionStorage.getItem(PAUSED)) sessionStorage.removeItem(PAUSED);
  else sessionStorage.setItem(PAUSED, "yes");
  follow();
}

/** Hidden tabs let go of the stream; the last one to do so closes it. */
function follow() {
  if (sessionStorage.getItem(PAUSED)) {
    stream?.close();
    stream = undefined;
    show("paused");
    return;
  }
  if (document.hidden) {
    stream?.close();
    stream = undefined;
    return;
  }
  if (stream) return;
  if (drawnAt) draw(); // while it was away, anything may have happened
  drawnAt ||= 1;
  stream = connect({ onState: show, onNews: heard });
}

function heard(news) {
  document.body.dispatchEvent(new CustomEvent("cadenza:news", { detail: news }));
  isStale = true;
  if (waiting) return;
  waiting = setTimeout(() => { waiting = 0; if (isStale) draw(); }, Math.max(0, drawnAt + LEAST_MS - performance.now()));
}

/** Not while somebody selects text or holds a menu's button: what they look at stays still. */
function draw() {
  if (isBusy()) {
    clearTimeout(waiting);
    waiting = setTimeout(() => { waiting = 0; draw(); }, LEAST_MS);
    return;
  }
  isStale = false;
  drawnAt = performance.now();
  document.body.dispatchEvent(new Event("cadenza:changed"));
}

function isBusy() {
  const selection = document.getSelection();
  const isSelecting = selection && !selection.isCollapsed && document.getElementById("main").contains(selection.anchorNode);
  return isSelecting || document.querySelector("#main :active") !== null;
}

/** Told aloud is only what changes what one may rely on: no more updates, and updates again. */
function say(next) {
  const said = document.getElementById("live-said");
  if (next === "cut" && state === "live") said.textContent = "Disconnected: this page is no longer updated";
  else if (next === "live" && said.textContent) said.textContent = "Live again";
}

function show(next) {
  say(next);
  state = next;
  const button = document.getElementById("live");
  button.dataset.state = state;
  button.querySelector("span").textContent = WORDS[state];
  button.setAttribute("aria-label", state === "paused" ? "Live updates are paused: resume" : `${WORDS[state]}: pause live updates`);
}

function showFailing() {
  const icon = document.getElementById("icon");
  const isFailing = document.getElementById("main").dataset.failing === "yes";
  icon.href = isFailing ? icon.dataset.failing : icon.dataset.calm;
}
