"""The demo's link opens its score: baseline, tightened, asked once and relaxed, as they come."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

CADENZA = (sys.executable, "-m", "cadenza.roots.main")


@pytest.fixture
def link() -> Iterator[str]:
    with subprocess.Popen(
        [*CADENZA, "demo", "--length", "20s"],
        stdout=subprocess.PIPE,
        text=True,
        # Tests that run in the background of a shell would have it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as process:
        assert process.stdout is not None
        links = (re.search(r"http://localhost\S+", line) for line in process.stdout)
        yield next(filter(None, links))[0]
        # It stays for who has looked at it.
        assert any("stays where it is until Ctrl-C" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_the_link_opens_the_score_and_shows_the_story_in_its_families(
    link: str, chromium: Browser
) -> None:
    page = chromium.new_page()
    page.goto(link)
    page.locator("#score[data-ready]").wait_for()
    page.wait_for_url("**?range=5m")
    for family in ("Baseline", "Tightened", "Asked once", "Relaxed"):
        button = page.locator("#score-legend button", has_text=family).locator("b")
        button.filter(has_text=re.compile(r"^[1-9]")).wait_for(timeout=30_000)
    page.close()
