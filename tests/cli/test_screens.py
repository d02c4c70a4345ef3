"""What a newcomer sees at 80 and at 100 columns, against screens that a reviewer can read."""

from pathlib import Path

import pytest

from tests.cli.support import Site
from tests.cli.take_screens import SCREENS, WIDTHS, taken

WIDE = "wide"  # it is asked for all there is, however long


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_screens_are_those_that_were_kept(
    memory_site: Site, tmp_path: Path, columns: int
) -> None:
    """Where a change is meant: python -m tests.cli.take_screens, and look at the difference."""
    for screen in taken(memory_site, tmp_path, columns):
        for line in screen.seen.splitlines():
            fits = len(line) <= columns or line.startswith("$ ") or screen.name == WIDE
            assert fits or _is_prose(line), f"{screen.name}: {line}"
        assert screen.kept == screen.file.read_text(), screen.name


def _is_prose(line: str) -> bool:
    """Sentences and lines to copy are the terminal's to break; rows of a table are not."""
    return "  " not in line.strip()


def test_every_kept_screen_is_of_a_scene() -> None:
    names = {path.stem.rpartition("-")[0] for path in SCREENS.glob("*.txt")}
    widths = {int(path.stem.rpartition("-")[2]) for path in SCREENS.glob("*.txt")}
    assert widths == set(WIDTHS)
    assert len(list(SCREENS.iterdir())) == len(names) * len(WIDTHS)
