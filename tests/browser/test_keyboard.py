"""A keyboard alone: everything is reached in order, and what has the focus is seen."""

import pytest
from playwright.sync_api import expect

from tests.browser.watching import Person, World

# What somebody can do something with, and is shown; a menu that is shut hides what is in it.
WALK = """() => {
  const shut = "[hidden], details:not([open]) > :not(summary)";
  const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest(shut);
  const all = [...document.querySelectorAll(
    "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']"
  )];
  window.wanted = new Set(all.filter((e) => shown(e) && !e.disabled && e.tabIndex >= 0));
  for (const radio of [...window.wanted]) {  // of a group of radio buttons, one is reached
    if (radio.type === "radio" && !radio.checked) window.wanted.delete(radio);
  }
  return window.wanted.size;
}"""
STEP = """() => {
  const e = document.activeElement;
  if (e === document.body) return "body";
  window.wanted.delete(e);
  const style = getComputedStyle(e);
  const isSeen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  return isSeen || e.matches(".skip") ? "" : e.outerHTML.slice(0, 200);
}"""


@pytest.mark.parametrize("name", ["overview", "endpoints", "endpoint", "settings", "yaml"])
def test_everything_is_reached_with_tab_and_the_focus_is_seen(
    world: World, person: Person, name: str
) -> None:
    ids = world.furnish()
    path = {
        "overview": "/",
        "endpoints": "/jobs/endpoints",
        "endpoint": f"/endpoints/{ids['endpoints']}",
        "settings": "/settings",
        "yaml": f"/jobs/{ids['jobs']}/yaml",
    }[name]
    page = person.go(path)
    page.keyboard.press("l")  # nothing is drawn anew while we walk
    page.locator("#live[data-state=paused]").wait_for()
    count = page.evaluate(WALK)
    assert count > 15
    for _ in range(count + 5):
        page.keyboard.press("Tab")
        unseen = page.evaluate(STEP)
        assert unseen in ("", "body"), unseen
    left = page.evaluate("[...window.wanted].map((e) => e.outerHTML.slice(0, 160))")
    assert left == []


def test_a_menu_opens_and_shuts_with_keys_and_gives_the_focus_back(
    world: World, person: Person
) -> None:
    endpoint = world.endpoint()
    page = person.go(f"/endpoints/{endpoint['id']}")
    page.get_by_text("More", exact=True).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert "Test" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "More"
    expect(page.get_by_role("link", name="Pause until…")).to_be_hidden()


def test_an_endpoint_is_paused_without_a_mouse(world: World, person: Person) -> None:
    endpoint = world.endpoint("needle")
    page = person.go("/")
    page.keyboard.press("/")
    page.keyboard.type("needle")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=needle")
    page.get_by_role("link", name="needle", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/endpoints/{endpoint['id']}")
    page.get_by_role("button", name="Pause", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Resume").wait_for()
