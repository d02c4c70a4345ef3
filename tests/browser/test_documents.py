"""The documentation at /docs: its own policy, no word in the console, nothing from elsewhere."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from cadenza.web.docs.lazy import Lazy
from cadenza.web.docs.site import BuiltSite
from tests.backends import MEMORY
from tests.browser.watching import PHONE, WIDE, Person, World, person_of, world_of
from tests.documents.site import build_site
from tests.web.support import listening

PAGES = ("", "tutorial/", "concepts/how-it-works/", "how-to/write-rules/", "reference/routes/")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("site")
    build_site(folder)
    with listening(MEMORY) as server:
        server.site.app.state.documentation.site = Lazy(lambda: BuiltSite(folder))
        yield world_of(server)


@pytest.fixture(scope="module")
def unbuilt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with listening(MEMORY) as server:
        empty = tmp_path_factory.mktemp("nothing")
        server.site.app.state.documentation.site = Lazy(lambda: BuiltSite(empty))
        yield world_of(server)


@pytest.fixture(params=["light", "dark"])
def reader(request: pytest.FixtureRequest, built: World, chromium: Browser) -> Iterator[Person]:
    with person_of(built, chromium, color_scheme=request.param) as person:
        yield person
        person.check_nothing_went_wrong()


def test_pages_load_in_light_and_dark_with_nothing_refused(reader: Person) -> None:
    for path in PAGES:
        page = reader.go(f"/docs/{path}")
        page.wait_for_load_state("networkidle")
        assert page.locator("h1").first.is_visible()
        pictures = page.locator("article img:visible")
        assert all(each.evaluate("img => img.naturalWidth > 0") for each in pictures.all())


def test_pages_can_be_used_without_seeing_them(reader: Person) -> None:
    for path in ("", "tutorial/", "how-to/"):
        page = reader.go(f"/docs/{path}")
        page.locator("h1").wait_for()
        found = Axe().run(page).response["violations"]
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        assert [(each["id"], each["nodes"][0]["html"]) for each in serious] == []


def test_the_search_finds_a_page_and_opens_it(reader: Person) -> None:
    page = reader.go("/docs/tutorial/")
    page.locator(".md-search__input").click()
    page.keyboard.type("clocks change")
    first = page.locator(".md-search-result__link").first
    first.wait_for()
    first.click()
    page.wait_for_url("**/docs/how-to/daylight-saving/**")


def test_its_colours_follow_the_system_until_somebody_chooses(
    built: World, chromium: Browser
) -> None:
    with person_of(built, chromium, color_scheme="dark") as person:
        page = person.go("/docs/")
        body = page.locator("body")
        expect(body).to_have_attribute("data-md-color-scheme", "slate")
        page.get_by_title("Follows the system; switch to light mode").click()
        expect(body).to_have_attribute("data-md-color-scheme", "default")
        page.reload()
        expect(body).to_have_attribute("data-md-color-scheme", "default")
        person.check_nothing_went_wrong()


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_clone_without_the_site_shows_the_pages_as_they_are_written(
    unbuilt: World, chromium: Browser, size: dict[str, int]
) -> None:
    with person_of(unbuilt, chromium, viewport=size) as person:
        page = person.go("/docs")
        page.get_by_role("link", name="Write rules").first.click()
        page.wait_for_url("**/docs/how-to/write-rules/")
        expect(page.get_by_role("heading", name="Write rules", level=1)).to_be_visible()
        page.locator("article").get_by_role("link", name="limits").click()
        page.wait_for_url("**/docs/security/#limits")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for path in PAGES:
            person.go(f"/docs/{path}").locator("article h1").wait_for()
        person.check_nothing_went_wrong()
