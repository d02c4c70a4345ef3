// Text of several lines that others point into: numbers beside it, and a click on what is wrong
// goes to its line.
export function startEditors() {
  for (const numbers of document.querySelectorAll("[data-numbers-of]")) {
    const area = document.getElementById(numbers.dataset.numbersOf);
    const draw = () => { numbers.textContent = count(area.value); numbers.scrollTop = area.scrollTop; };
    area.addEventListener("input", draw);
    area.addEventListener("scroll", () => { numbers.scrollTop = area.scrollTop; });
    draw();
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-line]");
    if (button) goTo(document.getElementById(button.dataset.area), Number(button.dataset.line));
  });
}

function count(text) {
  const lines = text.split("\n").length;
  return Array.from({ length: lines }, (_, index) => index + 1).join("\n") + "\n ";
}

function goTo(area, line) {
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  area.scrollTop = area.scrollHeight * ((line - 4) / lines.length);
}
