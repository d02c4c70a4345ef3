// What every page does: theme, zone, shortcuts, menus, times that count on, live updates.
import { startClock } from "./clock.js";
import { startLive } from "./live.js";
import { startShortcuts } from "./shortcuts.js";
import { keepZone, startTheme } from "./preferences.js";
import { startActivity } from "./activity.js";
import { startChoosing } from "./choosing.js";
import { startEditors } from "./editor.js";
import { startForms } from "./forms.js";
import { startSending } from "./sending.js";

document.documentElement.classList.add("js");
startTheme();
showCurrentEntry();
startClock();
startMenus();
startCopying();
startEditors();
startSending();
startForms();
startChoosing();
if (document.getElementById("live")) {
  startShortcuts();
  startLive();
  startActivity();
}
keepZone();

/** On a phone the menu scrolls: the entry one is at comes into view. */
function showCurrentEntry() {
  const menu = document.getElementById("menu");
  const entry = menu?.querySelector("[aria-current]");
  if (entry) menu.scrollLeft = entry.offsetLeft - (menu.clientWidth - entry.offsetWidth) / 2;
}

/** One menu at a time, and none that stays open behind a click elsewhere or Escape. */
function startMenus() {
  const close = (except) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== except) menu.open = false;
  };
  document.addEventListener("click", (event) => close(event.target.closest("details.menu")));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const open = document.querySelector("details.menu[open]");
    close();
    open?.querySelector("summary").focus();
  });
  document.addEventListener("click", (event) => {
    const id = event.target.closest("[data-open]")?.dataset.open;
    if (id) document.getElementById(id).showModal();
  });
}

/** By delegation, because a live update may draw a button anew; without a clipboard none is shown. */
function startCopying() {
  if (!navigator.clipboard) return;
  document.documentElement.classList.add("can-copy");
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}
