"""Nothing is cut off, reaches out of its card, or lies on top of something else."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.test_pages import pages_of
from tests.browser.watching import PHONE, Person, World, person_of
from tests.factories import FAILED

# What is shown within a card must end within it, but for what scrolls by itself.
REACHING_OUT = """() => {
  const scrolls = (e) => getComputedStyle(e).overflowX !== "visible";
  const isHeld = (e, card) => e !== card && (scrolls(e) || isHeld(e.parentElement, card));
  return [...document.querySelectorAll("main .card")].flatMap((card) => {
    const { right } = card.getBoundingClientRect();
    return [...card.querySelectorAll("*")].filter((e) => e.checkVisibility() && !isHeld(e, card)
      && !e.closest(".sr") && e.getBoundingClientRect().right > right + 1);
  }).map((e) => e.outerHTML.slice(0, 160));
}"""
# Cells of a row, and parts of a candidate, stand beside or below each other.
OVERLAPPING = """() => [...document.querySelectorAll("tbody tr, .cands li")].filter((row) => {
  const boxes = [...row.children].map((e) => e.getBoundingClientRect()).filter((box) => box.height);
  return boxes.some((one, i) => boxes.slice(i + 1).some((other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1));
}).map((row) => row.outerHTML.slice(0, 160))"""
CUT_OFF = """() => [...document.querySelectorAll(".scroll")]
  .filter((e) => e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1)
  .map((e) => `${e.getAttribute("aria-label")}: ${e.scrollWidth} of ${e.clientWidth}`)"""
# Words of a label and of what it labels share no place.
UNDER_LABELS = """() => [...document.querySelectorAll("table.cardlike:not(.runs) td[data-label]")]
  .filter((cell) => cell.checkVisibility() && [...cell.children].some((e) => e.checkVisibility()
    && e.getBoundingClientRect().left < cell.getBoundingClientRect().left + 90))
  .map((cell) => cell.outerHTML.slice(0, 160))"""


# First: a simulation can not be lived through while Playwright's loop runs.
def test_tables_of_the_flash_sale_are_not_cut_off(sale: World, viewer: Person) -> None:
    job = f"/jobs/{sale.server.site.ours.ids['jobs']}"
    for width in (1000, 1280):
        viewer.page.set_viewport_size({"width": width, "height": 900})
        for path in ("/", "/jobs", "/jobs/endpoints", "/runs", "/planner", "/activity", job):
            page = viewer.go(path)
            assert page.evaluate(CUT_OFF) == [], (width, path)
            assert page.evaluate(REACHING_OUT) == [], (width, path)


SIZES = [PHONE, {"width": 1000, "height": 800}, {"width": 1280, "height": 900}]


@pytest.fixture(params=SIZES, ids=["phone", "laptop", "desk"])
def looker(
    request: pytest.FixtureRequest, world: World, chromium: Browser
) -> Iterator[tuple[Person, list[str], bool]]:
    pages = pages_of(world.furnish())
    with person_of(world, chromium, viewport=request.param) as person:
        person.sign_in()
        yield person, pages, request.param is PHONE


def test_everything_stays_in_its_place(looker: tuple[Person, list[str], bool]) -> None:
    person, pages, is_phone = looker
    checks = (REACHING_OUT, OVERLAPPING, UNDER_LABELS if is_phone else CUT_OFF)
    for path in pages:
        page = person.go(path)
        for check in checks:
            assert page.evaluate(check) == [], path


def test_a_long_name_pushes_nothing_out_of_sight(world: World, person: Person) -> None:
    name = "a search page, named without a thought of how wide a screen is " + "x" * 30
    endpoint = world.endpoint(name, cron="0 3 1 1 *", timezone="America/New_York")
    world.run(endpoint, FAILED)
    for path in (
        "/",
        "/jobs/endpoints",
        "/runs",
        "/search?q=thought",
        f"/jobs/{endpoint['job_id']}",
    ):
        page = person.go(path)
        for check in (REACHING_OUT, OVERLAPPING, CUT_OFF):
            assert page.evaluate(check) == [], path
        cells = page.locator("td", has_text=name)
        assert cells.evaluate_all("cells => cells.every((e) => e.scrollWidth <= e.clientWidth)")


def test_bars_are_counted_in_whole_numbers(world: World, person: Person) -> None:
    world.run(world.endpoint())
    page = person.go("/")
    page.locator(".chart-plot canvas").wait_for()
    ticks = page.evaluate(
        """async () => {
          const { optionsOf } = await import(
            document.querySelector("script[src*='charts/page']").src.replace("page", "drawing"));
          return optionsOf({ series: [{ kind: "bar" }], times: [0, 60] }, 600, document.body)
            .axes[1].incrs.every(Number.isInteger);
        }"""
    )
    assert ticks is True
