// Forms: the first field that is wrong has the focus, and who types into a choice's field chooses it.
export function startForms() {
  document.querySelector("#main [aria-invalid]")?.focus();
  document.addEventListener("input", ({ target }) => {
    const radio = target.closest(".field:has(> .choice)")?.querySelector(":scope > .choice > input");
    if (radio && radio !== target) radio.checked = true;
  });
}
