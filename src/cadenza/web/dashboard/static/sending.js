// A form is sent once: a second click, while the answer is on its way, would do it twice.
let sent = new WeakSet();

export function startSending() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post") return;
    if (sent.has(form)) event.preventDefault();
    sent.add(form);
  });
  window.addEventListener("pageshow", () => { sent = new WeakSet(); }); // back on the same page
}
