"""Hostile names, reasons and bodies do nothing, wherever they are shown."""

from tests.browser.hostile import NAME, TEXT, furnish_with_hostile_text
from tests.browser.watching import Person, World

HARM = """() => ({
  hacked: window.hacked,
  scripts: [...document.scripts].filter((script) => !script.src).length,
  handlers: [...document.querySelectorAll("*")].flatMap((e) => [...e.attributes]).filter(
    (attribute) => attribute.name.startsWith("on") || attribute.value.startsWith("javascript:")
  ).length,
  images: document.images.length,
})"""
NONE = {"hacked": None, "scripts": 0, "handlers": 0, "images": 0}


def test_hostile_text_does_nothing_on_any_page(world: World, person: Person) -> None:
    paths = furnish_with_hostile_text(world)
    for path in paths:
        page = person.go(path)
        assert page.evaluate(HARM) == NONE, path
    # What is drawn later, too: the score's tip and table, a draft, a trial, what is wrong.
    page = person.go(next(path for path in paths if path.endswith("/edit") and "endpoints" in path))
    page.get_by_label("Interval", exact=True).check()
    page.get_by_label("Every", exact=True).fill(TEXT[:60])
    page.locator("#draft .bad-text").first.wait_for()
    assert page.evaluate(HARM) == NONE
    page = person.go(next(path for path in paths if path.endswith("/yaml") and len(path) > 20))
    page.locator("#f-yaml").fill(f"jobs:\n  - name: '{NAME}'\n    {TEXT}: {TEXT}\n")
    page.locator("#outcome .problems").wait_for()
    assert page.evaluate(HARM) == NONE


def test_what_happens_live_is_text_too(world: World, person: Person) -> None:
    endpoint = world.endpoint(NAME)
    page = person.go("/activity")
    person.wait_until_live()
    world.done("POST", f"/endpoints/{endpoint['id']}/pause", {"reason": TEXT})
    page.locator("#happening-list li").first.wait_for()
    assert page.evaluate(HARM) == NONE
