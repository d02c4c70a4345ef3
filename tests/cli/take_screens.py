"""The screens of `tests/cli/screens`: taken anew on purpose, and looked at before they are kept.

python -m tests.cli.take_screens
"""

import contextlib
import re
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cadenza.domain.instants import iso
from tests.backends import MEMORY
from tests.cli.frozen import NOW
from tests.cli.scenes import Step, furnish, scenes
from tests.cli.support import Person, Site, living_site, new_key
from tests.cli.terminal import shown

REPOSITORY = Path(__file__).parent.parent.parent
SCREENS = Path(__file__).parent / "screens"
WIDTHS = (80, 100)
# What differs from one time to the next; spaces that it has moved are as good as two.
_SENTENCE = re.compile(r"^  [A-Z`].*(?:\n    \S.*)+", re.MULTILINE)
_NORMALISED = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}){0,2}(?:-[0-9a-f]{12})?", "<id>"),
    (r"http://127\.0\.0\.1:\d+", "<server>"),
    (r"\d{4}-\d\d-\d\d", "<day>"),
    (r"\bmonth +\d{4}-\d\d\b", "month  <month>"),
    (r"\d\d:\d\d:\d\d(?:\.\d+)?Z?", "<time>"),
    (r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d\d [A-Z][a-z]{2}\b", "<date>"),
    (r"\b\d+ (?:s|min|h|days) ago", "<ago>"),
    (r"\bin \d+ (?:s|min|h|days)", "<ahead>"),
    (r"\b[\d.]+ (?:ms|GB)\b", "<amount>"),
    (r"\b\d\.\d{1,3} s\b", "<amount>"),
    (r"cadenza \d\S*, Python \S+", "<versions>"),
    (r"tenant [0-9a-f]{8}", "<tenant>"),
    (r"(?<=\S) {2,}", "  "),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Screen:
    name: str
    columns: int
    seen: str

    @property
    def kept(self) -> str:
        """As it is compared."""
        return normalised(self.seen, self.columns)

    @property
    def file(self) -> Path:
        return SCREENS / f"{self.name}-{self.columns}.txt"


def taken(site: Site, folder: Path, columns: int) -> Iterator[Screen]:
    """Every scene at one width, in a tenant of its own, in the order in which they change it."""
    tenant, key = site.wait_for(new_key(site.backend))
    person = Person(site, tenant, key)
    with contextlib.chdir(folder):
        furnish(person, folder)
    at = site.wait_for(site.backend.now()) + timedelta(seconds=100)  # all of it is "2 min ago"
    environment = {
        "CADENZA_API_URL": site.url,
        "CADENZA_API_KEY": key,
        "PYTHONPATH": f"{REPOSITORY / 'src'}:{REPOSITORY}",  # the code of this tree
        NOW: iso(at),
    }
    for name, steps in scenes(person).items():
        screens = [_screen(step, columns, environment, folder) for step in steps]
        yield Screen(name, columns, "".join(screens))


def _screen(step: Step, columns: int, environment: dict[str, str], folder: Path) -> str:
    command = ["-m", "tests.cli.frozen", *step.words.split()]
    with_its_own = {**environment, **step.environment}
    seen = shown(command, columns, with_its_own, folder, step.typed, step.on_seen)
    return f"$ cadenza {step.words}\n{seen}\n"


def normalised(screen: str, columns: int) -> str:
    """Sentences that were broken where a time is longer or shorter are broken anew."""
    screen = _SENTENCE.sub(lambda found: re.sub(r"\n {4}", " ", found[0]), screen)
    for pattern, word in _NORMALISED:
        screen = re.sub(pattern, word, screen)
    return "\n".join(_broken(line, columns) for line in screen.split("\n"))


def _broken(line: str, columns: int) -> str:
    if not re.match(r"  [A-Z`]", line):
        return line
    return "\n".join(textwrap.wrap(line, columns, subsequent_indent="    "))


def main() -> None:
    SCREENS.mkdir(exist_ok=True)
    with living_site(MEMORY) as site, tempfile.TemporaryDirectory() as scratch:
        for columns in WIDTHS:
            folder = Path(scratch) / str(columns)
            folder.mkdir()
            for screen in taken(site, folder, columns):
                screen.file.write_text(screen.kept)


if __name__ == "__main__":
    main()
