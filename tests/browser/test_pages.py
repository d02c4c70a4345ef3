"""Every page in a real browser: no message, no violation of the policy, and usable by everybody."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.watching import PHONE, Person, World, person_of
from tests.factories import FAILED

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
EMPTY = (
    "/", "/jobs", "/jobs/endpoints", "/jobs/yaml", "/runs", "/planner", "/graphs",
    "/graphs/grants", "/graphs/accounts", "/activity", "/activity/incidents",
    "/settings", "/settings/notifications", "/settings/notifications/deliveries",
    "/jobs/endpoints?state=late", "/activity/incidents?kind=late",
    "/search?q=nothing", "/jobs/new",
)  # fmt: skip


def pages_of(ids: dict[str, str]) -> list[str]:
    schedule = f"/graphs/schedules/{ids['schedules']}"
    endpoint = f"/endpoints/{ids['endpoints']}"
    return [
        *EMPTY,
        f"/jobs/{ids['jobs']}",
        f"/jobs/{ids['jobs']}/edit",
        f"/jobs/{ids['jobs']}/endpoints/new",
        f"/jobs/{ids['jobs']}/yaml",
        f"/jobs/{ids['jobs']}/rules/new",
        f"/jobs/{ids['jobs']}/pause-until",
        endpoint,
        f"{endpoint}/edit",
        f"{endpoint}/hint",
        f"{endpoint}/pause-until",
        f"/runs/{ids['runs']}",
        f"/planner/{ids['sessions']}",
        schedule,
        f"{schedule}/runs/{ids['schedule_run_id']}",
        f"/graphs/grants/{ids['grants']}",
        f"/graphs/accounts/{ids['accounts']}",
    ]


def faults_on(page: Page) -> list[str]:
    """What axe finds, by rule and place."""
    page.evaluate(AXE)
    result: Any = page.evaluate("axe.run(document)")
    return [
        f"{page.url} {fault['id']}: {node['html'][:160]} {node['any'][:1]}"
        for fault in result["violations"]
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(world: World, chromium: Browser, theme: Any) -> None:
    ids = world.furnish()
    with person_of(world, chromium, color_scheme=theme) as person:
        person.go("/sign-in")
        faults = faults_on(person.page)
        person.sign_in()
        for path in pages_of(ids):
            faults += faults_on(person.go(path))
        assert faults == []
        person.check_nothing_went_wrong()


def test_empty_pages_are_as_quiet(person: Person) -> None:
    for path in EMPTY:
        person.go(path)
        assert person.page.locator("h1").count() == 1, path


def test_no_page_is_wider_than_a_phone(world: World, chromium: Browser) -> None:
    ids = world.furnish()
    with person_of(world, chromium, viewport=PHONE) as person:
        person.sign_in()
        for path in pages_of(ids):
            width = person.go(path).evaluate("document.documentElement.scrollWidth")
            assert width <= PHONE["width"], path


def test_pages_of_what_is_archived_are_for_everybody(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    world.done("POST", f"/jobs/{endpoint['job_id']}/archive")
    job, path = f"/jobs/{endpoint['job_id']}", f"/endpoints/{endpoint['id']}"
    for page in ("/jobs?archived=yes", job, f"{job}/delete", path, f"{path}/delete"):
        assert faults_on(person.go(page)) == []


@pytest.mark.parametrize("width", [1280, 1000, 700, PHONE["width"]])
def test_what_a_run_answered_ends_within_its_cell(
    world: World, chromium: Browser, width: int
) -> None:
    message = "no connection to shop.example:443: connection refused by the other side"
    world.run(world.endpoint(), replace(FAILED, status_code=None, error_message=message))
    with person_of(world, chromium, viewport={"width": width, "height": 900}) as person:
        person.sign_in()
        region = person.page.get_by_role("region", name="Recent runs")
        cell = region.get_by_title(message)
        outer, inner = region.bounding_box(), cell.bounding_box()
        assert outer is not None
        assert inner is not None
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
        assert inner["width"] >= 90
        assert cell.evaluate("cell => getComputedStyle(cell).textOverflow") == "ellipsis"


def test_the_theme_follows_the_system_until_somebody_chooses(
    world: World, chromium: Browser
) -> None:
    with person_of(world, chromium, color_scheme="dark") as person:
        person.sign_in()
        scheme = "getComputedStyle(document.documentElement).colorScheme"
        assert person.page.evaluate(scheme) == "dark"
        person.page.keyboard.press("t")
        assert person.page.evaluate(scheme) == "light"
        person.page.reload()
        assert person.page.evaluate(scheme) == "light"
        person.check_nothing_went_wrong()


def test_times_are_by_the_clock_of_the_browser(world: World, person: Person) -> None:
    world.endpoint()
    person.go("/jobs/endpoints")
    expect(person.page.locator("#zone")).to_have_text("Europe/Berlin")
    expect(person.page.locator("td .abs").first).to_contain_text("CE")  # CET or CEST


def test_the_first_page_ever_says_the_zone_that_it_shows(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    person.context.clear_cookies(name="cadenza_zone")
    page = person.go(f"/jobs/{endpoint['job_id']}")
    expect(page.locator("#zone")).to_have_text("Europe/Berlin")
    expect(page.locator(".zone")).to_have_text("Times in Europe/Berlin")
    expect(page.locator("td .abs").first).to_contain_text("CE")  # CET or CEST


def test_a_keyboard_is_enough(world: World, person: Person) -> None:
    world.endpoint("needle")
    page = person.go("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("/")
    page.keyboard.type("needle")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=needle")
    page.keyboard.press("g")
    page.keyboard.press("j")
    page.wait_for_url("**/jobs")
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#shortcuts")).to_be_hidden()


def test_a_wrong_clock_of_the_browser_moves_no_relative_time(
    world: World, chromium: Browser
) -> None:
    world.run(world.endpoint())
    with person_of(world, chromium) as person:
        person.context.clock.install(time=datetime(2020, 1, 1, tzinfo=UTC))
        person.sign_in()
        person.page.evaluate("document.dispatchEvent(new Event('htmx:after:swap'))")
        expect(person.page.locator("#score td [data-relative]").first).to_have_text(
            re.compile(r"^(now|\d+ s ago|\d+ min( \d+ s)? ago)$")
        )
