// Keys: / search, ? the list, g and a letter goes to an entry, l pauses live updates, t the theme.
import { toggleLive } from "./live.js";
import { changeTheme } from "./preferences.js";

const ENTRIES = { o: "/", j: "/jobs", r: "/runs", p: "/planner", h: "/graphs", a: "/activity", s: "/settings" };
const WAIT_MS = 1200; // between g and its letter

export function startShortcuts() {
  let goes = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (performance.now() - goes < WAIT_MS && ENTRIES[event.key]) location.assign(ENTRIES[event.key]);
    goes = event.key === "g" ? performance.now() : 0;
    const act = { "/": () => document.getElementById("search").focus(), "?": showList, l: toggleLive, t: changeTheme }[event.key];
    if (!act || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    act();
  });
}

function showList() {
  document.getElementById("shortcuts").showModal();
}

function isTyping(target) {
  return target.closest?.("input, textarea, select, [contenteditable]") !== null;
}
