"""Pages with ten thousand rows: they come in pieces, each row is reachable, and one is found."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.backends import MEMORY
from tests.browser.crowd import JOBS, MANY, crowd
from tests.browser.watching import Person, World, person_of, world_of
from tests.web.support import listening

MOST_NODES = 6_000  # of a page, however much there is


@pytest.fixture(scope="module")
def crowded() -> Iterator[tuple[World, dict[str, Any]]]:
    with listening(MEMORY) as server:
        world = world_of(server)
        yield world, crowd(world)


@pytest.fixture
def visitor(crowded: tuple[World, dict[str, Any]], chromium: Browser) -> Iterator[Person]:
    with person_of(crowded[0], chromium) as person:
        person.sign_in()
        yield person
        person.check_nothing_went_wrong()


def test_every_page_stays_small(crowded: tuple[World, dict[str, Any]], visitor: Person) -> None:
    job = f"/jobs/{crowded[1]['id']}"
    for path in (
        "/", "/jobs", "/jobs/endpoints", "/runs", "/planner", "/graphs", "/activity", "/settings",
        "/search?q=endpoint", job, f"{job}/rules/new", f"/jobs/endpoints?job={crowded[1]['id']}",
        "/jobs/yaml",
    ):  # fmt: skip
        page = visitor.go(path)
        assert page.locator("h1").count() == 1, path
        assert page.evaluate("document.querySelectorAll('*').length") < MOST_NODES, path


def test_a_long_list_is_walked_page_by_page(visitor: Person) -> None:
    page = visitor.go("/jobs")
    first = page.locator("tbody tr").all_inner_texts()
    page.get_by_role("link", name="More", exact=True).click()
    page.wait_for_url("**cursor=**")
    expect(page.locator("tbody tr")).to_have_count(JOBS - len(first))
    second = page.locator("tbody tr").all_inner_texts()
    assert not {text.split()[1] for text in first} & {text.split()[1] for text in second}
    page.get_by_role("link", name="First", exact=True).click()
    expect(page.locator("tbody tr").first).to_contain_text("job 000")


def test_one_of_ten_thousand_is_found_by_its_name_and_its_number_is_told(visitor: Person) -> None:
    page = visitor.go("/jobs/endpoints")
    page.get_by_role("link", name=f"Active {MANY:,}").wait_for()
    page.locator("#q-search").fill("endpoint 042")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url("**search=endpoint**")
    expect(page.locator("tbody tr")).to_have_count(50)
    names = page.locator("tbody .name").all_inner_texts()
    assert set(names) == {"endpoint 042"}
    page.get_by_role("link", name="Paused").click()
    page.get_by_text("No matches").wait_for()
    page.get_by_role("link", name="state: paused").click()
    expect(page.locator("tbody tr")).to_have_count(50)
