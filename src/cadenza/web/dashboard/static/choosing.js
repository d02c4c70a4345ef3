// Rows that are chosen: all of a page at once, and how many they are. A live update keeps them.
export function startChoosing() {
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-pick-all]")) {
      for (const box of picks()) box.checked = event.target.checked;
    }
    if (event.target.matches("[data-pick], [data-pick-all]")) count();
  });
  document.addEventListener("htmx:after:swap", count);
  count();
}

const picks = () => [...document.querySelectorAll("[data-pick]")];

function count() {
  const shown = document.getElementById("chosen");
  if (!shown) return;
  const boxes = picks(), chosen = boxes.filter((box) => box.checked).length;
  const text = chosen ? `${chosen} selected` : "Selected endpoints";
  if (shown.textContent !== text) shown.textContent = text;
  const all = document.querySelector("[data-pick-all]");
  all.checked = chosen > 0 && chosen === boxes.length;
  all.indeterminate = chosen > 0 && chosen < boxes.length;
}
