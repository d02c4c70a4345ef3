"""What a screen reader has of a page: landmarks, headings, names, and what is told unasked."""

import re
from itertools import pairwise
from typing import Any

from playwright.sync_api import expect

from tests.browser.test_pages import pages_of
from tests.browser.watching import Person, World

# Levels that are left out, and what has the same name as another of its kind on the page.
HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4")]
  .filter((e) => e.checkVisibility()).map((e) => Number(e.tagName[1]))"""
NAMES = """(kind) => [...document.querySelectorAll(kind)].filter((e) => e.checkVisibility())
  .map((e) => (e.getAttribute("aria-label") ?? e.textContent).replace(/\\s+/g, " ").trim())"""
# Pictures without words of their own are left to the table that has the same.
PICTURES = """() => [...document.querySelectorAll("main canvas, main svg")].filter((e) =>
  !e.closest("[aria-hidden=true], [role=application]") && !e.getAttribute("aria-label"))
  .map((e) => e.outerHTML.slice(0, 120))"""


def test_every_page_can_be_walked_by_ear(world: World, person: Person) -> None:
    ids = world.furnish()
    more = ["/settings/people", f"/jobs/{ids['jobs']}/people"]
    for path in [*pages_of(ids), *more]:
        page = person.go(path)
        levels: list[int] = page.evaluate(HEADINGS)
        assert levels[0] == 1, path
        jumps = [pair for pair in pairwise(levels) if pair[1] > pair[0] + 1]
        assert jumps == [], path
        assert page.locator("main").count() == page.locator("header").count() == 1, path
        navigations: list[str] = page.evaluate(NAMES, "nav")
        assert len(navigations) == len(set(navigations)), path
        buttons: Any = page.evaluate(NAMES, "main button, main summary.button")
        twice = {name for name in buttons if buttons.count(name) > 1 and name != "More"}
        assert twice == set(), path
        assert "" not in buttons, path
        assert page.evaluate(PICTURES) == [], path
        for figure in page.locator("figure").all():
            assert figure.locator("table").count() == 1, path


def test_a_run_is_not_told_unasked(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    page = person.go(f"/jobs/{endpoint['job_id']}")
    person.wait_until_live()
    page.evaluate(
        """() => {
          window.told = [];
          const aloud = "[aria-live=polite], [role=status], [role=alert], output";
          new MutationObserver((changes) => changes.forEach(({ target }) => {
            const e = (target.nodeType === 1 ? target : target.parentElement).closest(aloud);
            if (e) window.told.push(e.outerHTML.slice(0, 200));
          })).observe(document, { subtree: true, childList: true, characterData: true });
        }"""
    )
    world.run(endpoint)
    expect(page.locator("#score-table td").filter(has_text="By hand")).not_to_have_count(0)
    page.locator("table td", has_text=re.compile("ago|now")).first.wait_for()
    assert page.evaluate("window.told") == []


def test_what_is_typed_is_answered_in_a_few_words(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    page = person.go(f"/endpoints/{endpoint['id']}/edit")
    told = page.locator("#draft-said")
    expect(told).to_have_text(re.compile("^Next run (now|in .{2,12})$"))
    page.get_by_label("Every", exact=True).fill("often")
    expect(told).to_have_text("The schedule is not valid")
    assert page.locator("#draft").evaluate("e => e.closest('[aria-live]')") is None
