// What a person prefers, kept in cookies so that the server draws the page that way at once.
const YEAR = 31536000;

function keep(name, value) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${name}=${encodeURIComponent(value)}; path=/; max-age=${value ? YEAR : 0}; samesite=strict${secure}`;
}

export function startTheme() {
  document.getElementById("theme")?.addEventListener("click", changeTheme);
}

export function changeTheme() {
  const root = document.documentElement;
  const isDark = getComputedStyle(root).colorScheme === "dark";
  root.dataset.theme = isDark ? "light" : "dark";
  keep("cadenza_theme", root.dataset.theme);
  document.body.dispatchEvent(new Event("cadenza:theme"));
}

/** Tell the server where the person is; where it did not know yet, the page is drawn anew. */
export function keepZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const shown = document.getElementById("zone")?.textContent;
  keep("cadenza_zone", zone);
  if (!shown || !zone || shown === zone) return;
  for (const name of document.querySelectorAll("[data-zone]")) name.textContent = zone;
  // Not before everything is loaded: htmx would not hear it.
  window.addEventListener("load", () => document.body.dispatchEvent(new Event("cadenza:changed")));
}
