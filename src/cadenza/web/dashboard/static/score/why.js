// "Why then?": the exact answer about one run, as the server tells it.
import { el } from "./dom.js";

export class Why {
  constructor(element, onClose) {
    this.element = element;
    this.onClose = onClose;
    this.shown = null;
  }

  async show(id, { focus = false } = {}) {
    if (this.shown === id) return;
    this.shown = id;
    const response = await fetch(`/runs/${encodeURIComponent(id)}/why`, { headers: { "HX-Request": "true" } });
    if (this.shown !== id) return; // another one was asked for meanwhile
    this.element.hidden = false;
    if (response.ok) this.#write(await response.text());
    else this.element.replaceChildren(el("p", { className: "pad", textContent: response.status === 404 ? "This run has been deleted by retention." : "Could not load this. Try again." }));
    if (focus) this.element.focus();
  }

  /** Written by our own templates, which escape whatever people and targets wrote. */
  #write(html) {
    this.element.innerHTML = html;
    const close = el("button", { type: "button", className: "icon", "aria-label": "Close", textContent: "✕" });
    close.addEventListener("click", () => { this.hide(); this.onClose(); });
    this.element.querySelector("h2").after(close);
  }

  hide() {
    this.shown = null;
    this.element.hidden = true;
    this.element.replaceChildren();
  }
}
