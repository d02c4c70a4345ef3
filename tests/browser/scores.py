"""The score in a browser, as a person uses it and a test reads it."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page

from tests.browser.watching import Person

# How many pixels of the lanes have the colour of a token.
COUNT = """(name) => {
  const canvas = document.querySelector("#score .sheets canvas"), { width, height } = canvas;
  const wanted = getComputedStyle(canvas).getPropertyValue(`--${name}`).trim();
  const rgb = [1, 3, 5].map((at) => parseInt(wanted.slice(at, at + 2), 16));
  const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) count += rgb.every((part, k) => data[i + k] === part);
  return count;
}"""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@dataclass(frozen=True, slots=True)
class ScorePage:
    page: Page

    @property
    def plot(self) -> Locator:
        return self.page.locator("#score .plot[tabindex]")

    def rows(self) -> list[str]:
        """Of the table that a screen reader has, newest first."""
        rows = self.page.locator("#score-table tbody tr")
        text = "[...row.cells].map((cell) => cell.textContent).join(' | ')"
        return rows.evaluate_all(f"(rows) => rows.map((row) => {text})")

    def row(self, text: str) -> Locator:
        return self.page.locator("#score-table tbody tr", has_text=text)

    def pixels(self, token: str) -> int:
        self.page.evaluate(DRAWN)
        return self.page.evaluate(COUNT, token)

    def said(self) -> str:
        return self.page.locator("#score .sr[aria-live]").inner_text()

    def press(self, *keys: str) -> None:
        self.plot.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def query(self, name: str) -> str | None:
        # As the page has it: Playwright's own copy of the address follows a moment later.
        return self.page.evaluate("(name) => new URLSearchParams(location.search).get(name)", name)

    def wait_for_query(self, name: str, *, there: bool = True) -> None:
        has = f"new URLSearchParams(location.search).has({name!r})"
        self.page.wait_for_function(f"() => {has} === {str(there).lower()}")

    def box(self) -> Any:
        box = self.plot.bounding_box()
        assert box is not None
        return box


def score_on(person: Person, job_id: str, query: str = "") -> ScorePage:
    page = person.go(f"/jobs/{job_id}{query}")
    page.locator("#score[data-ready]").wait_for()
    return ScorePage(page)
