"""Hostile names, reasons and bodies do nothing, wherever they are shown."""

from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.hostile import NAME, TEXT, furnish_with_hostile_text
from tests.browser.watching import PHONE, WIDE, Person, World, person_of
from tests.factories import FAILED

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


MARKS = "\u0301\u0327\u20dd\u0489"
UNBROKEN = {
    "marks": "e" + MARKS * 8_000,  # on one letter
    "letters": "W" * 30_000,
    "emoji": "👩🏳" * 8_000,
    "right to left": "אבג מרחבא " * 3_000,
}


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("kind", UNBROKEN)
def test_text_without_end_makes_no_page_wider(
    world: World, chromium: Browser, kind: str, size: Any
) -> None:
    text = UNBROKEN[kind]
    name, reason = text[:99].strip(), text[:400]
    job = world.done("POST", "/jobs", {"name": name, "description": text[:9_900]})
    made = {"name": name, "every": "1h", "url": "https://shop.example/"}
    endpoint = world.done("POST", f"/jobs/{job['id']}/endpoints", made)
    path = f"/endpoints/{endpoint['id']}"
    answer = replace(FAILED, error_message=text[:500], body={text[:500]: text})
    world.run(endpoint, answer)
    world.done("POST", f"{path}/hints/interval", {"interval": "2m", "reason": reason})
    world.done("POST", f"{path}/hints/one-shot", {"in": "5m", "reason": reason})
    run = world.done("GET", "/runs")["items"][0]
    job_path = f"/jobs/{job['id']}"
    with person_of(world, chromium, viewport=size) as person:
        person.sign_in()
        for page_path in (
            "/", "/jobs", "/jobs/endpoints", "/runs", "/search?q=e", "/activity", job_path,
            f"{job_path}/edit", f"{job_path}/pause-until", path, f"{path}/hint", f"{path}/edit",
            f"/runs/{run['id']}",
        ):  # fmt: skip
            page = person.go(page_path)
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= size["width"], page_path
            buttons = page.locator("main button:visible").evaluate_all(
                "all => all.map((e) => e.getBoundingClientRect().right)"
            )
            assert all(right <= size["width"] for right in buttons), page_path
        person.check_nothing_went_wrong()
