"""The walks of CONTRIBUTING name what there is, and are as short as they say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "cadenza"
FILES = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.*")}
QUERIES = "".join(
    path.read_text() for path in sorted((SOURCE / "adapters/postgres/queries").glob("*.sql"))
)
TEXT = (ROOT / "CONTRIBUTING.md").read_text().split("## Walks")[1].split("## Habits")[0]
WALKS = dict(re.findall(r"^(\*\*.+?)$\n(.*?)(?=^\*\*|\Z)", TEXT, re.DOTALL | re.MULTILINE))


def named(walk: str, ending: str) -> set[str]:
    """The files that it names, each by its longest name: a short one is the end of a path."""
    names = {
        name for name in re.findall(rf"`([\w/]+\.{ending})`", walk) if not name.startswith("tests/")
    }
    assert [
        name for name in names if not any(f"/{path}".endswith(f"/{name}") for path in FILES)
    ] == []
    return {name for name in names if not any(other.endswith(f"/{name}") for other in names)}


@pytest.mark.parametrize("title", WALKS)
def test_what_a_walk_names_is_there(title: str) -> None:
    assert named(WALKS[title], "py")
    named(WALKS[title], "sql")
    for names in re.findall(r"→ ([`\w, ]+?) in `queries/", WALKS[title]):
        for name in re.findall(r"`(\w+)`", names):
            assert f"-- name: {name}\n" in QUERIES, name


def test_a_walk_is_as_long_as_it_says() -> None:
    stated_and_real = {
        title: (int(count[1]), len(named(WALKS[title], "py")))
        for title in WALKS
        if (count := re.search(r"\((\d+) modules", title))
    }
    assert len(stated_and_real) == 4
    assert {
        title: real for title, (stated, real) in stated_and_real.items() if stated != real
    } == {}


def test_a_due_run_and_a_new_endpoint_are_short_walks() -> None:
    (run,) = (walk for title, walk in WALKS.items() if "A due run" in title)
    (new,) = (walk for title, walk in WALKS.items() if "POST /jobs" in title)
    assert len(named(run, "py")) <= 16
    assert len(named(new, "py")) <= 14
