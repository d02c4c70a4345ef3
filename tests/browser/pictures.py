"""The README's pictures: `python -m tests.browser.pictures`, or `make pictures`.

A real instance serves the flash sale of `flash_sale.py`, and Chromium looks at it: the score and
the overview in both themes, and the score on a phone. Inter is used where it is installed.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

from cadenza.domain.instants import iso
from cadenza.sim.world import START
from tests.browser.conftest import launched
from tests.browser.flash_sale import LENGTH, lived, owner_of, sold
from tests.browser.scores import DRAWN
from tests.browser.watching import PHONE, person_of, world_of
from tests.factories import minutes
from tests.web.support import Listening, listening_over

FOLDER = Path(__file__).parents[2] / "docs" / "images"
LARGEST = 250_000  # bytes
WIDE = {"width": 1240, "height": 1100}


@dataclass(frozen=True, slots=True)
class Picture:
    name: str
    path: str
    until: str  # the element that it ends below
    theme: Literal["light", "dark"] = "light"
    is_phone: bool = False


def pictures_of(job_id: str) -> list[Picture]:
    view = "~".join(iso(at) for at in (START - minutes(0.6), START + LENGTH + minutes(6.8)))
    score = f"/jobs/{job_id}?view={quote(view, safe='~:')}"
    return [
        Picture("score-light", score, "#score"),
        Picture("score-dark", score, "#score", "dark"),
        Picture("overview-light", "/", ".hours"),
        Picture("overview-dark", "/", ".hours", "dark"),
        Picture("score-phone", score, "#score", is_phone=True),
    ]


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with _sale() as (server, job_id), sync_playwright() as playwright:
        browser = launched(playwright)
        for picture in pictures_of(job_id):
            content = _taken(browser, server, picture)
            assert len(content) <= LARGEST, f"{picture.name} has {len(content):,} bytes"
            (FOLDER / f"{picture.name}.png").write_bytes(content)
            sys.stdout.write(f"docs/images/{picture.name}.png: {len(content):,} bytes\n")
        browser.close()


@contextmanager
def _sale() -> Iterator[tuple[Listening, str]]:
    world = lived()
    with listening_over(lambda: sold(world)) as server:
        server.site.ours = server.wait_for(owner_of(server.site, world))
        yield server, str(world.job.id)


def _taken(browser: Browser, server: Listening, picture: Picture) -> bytes:
    size, ratio = (PHONE, 1.25) if picture.is_phone else (WIDE, 1)
    options = {"viewport": size, "device_scale_factor": ratio, "color_scheme": picture.theme}
    with person_of(world_of(server), browser, **options, timezone_id="UTC") as person:
        person.context.clock.install(time=_now(server))
        person.sign_in()
        page = person.go(picture.path)
        person.wait_until_live()
        _wait_until_drawn(page)
        person.check_nothing_went_wrong()
        bottom = page.locator(picture.until).evaluate("(end) => end.getBoundingClientRect().bottom")
        clip = {"x": 0, "y": 0, "width": size["width"], "height": bottom + scrolled(page) + 16}
        return page.screenshot(full_page=True, clip=clip)


def _now(server: Listening) -> datetime:
    return server.wait_for(server.site.now())


def scrolled(page: Page) -> float:
    return page.evaluate("scrollY")


def _wait_until_drawn(page: Page) -> None:
    page.locator("#score[data-ready], .chart-plot canvas").first.wait_for()
    page.evaluate("document.fonts.ready.then(() => true)")
    page.evaluate(DRAWN)


if __name__ == "__main__":
    main()
