"""A real browser and a real server: Debian's Chromium, driven by Playwright."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, expect, sync_playwright

from tests.backends import MEMORY
from tests.browser.flash_sale import lived, owner_of, sold
from tests.browser.watching import PATIENCE_MS, Person, World, person_of, world_of
from tests.web.support import listening, listening_over

HERE = Path(__file__).parent
expect.set_options(timeout=PATIENCE_MS)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
MISSING = (
    "There is no Chromium on this machine. `apt-get install chromium` brings one (`make test` does "
    "that where it may); `pytest -m 'not browser'` leaves these tests out."
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")  # Playwright's loop must have ended when other tests want theirs
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


def launched(playwright: Playwright) -> Browser:
    path = next(filter(None, map(shutil.which, NAMES)), None)
    assert path is not None, MISSING
    return playwright.chromium.launch(executable_path=path, args=FLAGS)


@pytest.fixture
def world() -> Iterator[World]:
    with listening(MEMORY) as server:
        yield world_of(server)


@pytest.fixture
def person(world: World, chromium: Browser) -> Iterator[Person]:
    """Signed in with an admin's key; at the end, nothing may have gone wrong on any page."""
    with person_of(world, chromium) as person:
        person.sign_in()
        yield person
        person.check_nothing_went_wrong()


@pytest.fixture(scope="module")
def sale() -> Iterator[World]:
    """A flash sale that has just been lived through; its owner is Ada."""
    lived_world = lived()
    with listening_over(lambda: sold(lived_world)) as server:
        server.site.ours = server.wait_for(owner_of(server.site, lived_world))
        server.site.ours.ids["jobs"] = str(lived_world.job.id)
        yield world_of(server)


@pytest.fixture
def viewer(sale: World, chromium: Browser) -> Iterator[Person]:
    """Looks at the flash sale; at the end, nothing may have gone wrong on any page."""
    with person_of(sale, chromium) as person:
        person.sign_in()
        yield person
        person.check_nothing_went_wrong()
