"""Statements are complete, named once, and called somewhere."""

import re
from pathlib import Path

import pytest

from cadenza.adapters import postgres
from cadenza.adapters.postgres.queries import parse_statements, query

ADAPTERS = Path(postgres.__file__).parent
FILES = {file.name: file.read_text() for file in (ADAPTERS / "queries").iterdir()}
NAMES = set(parse_statements(FILES))
LITERAL = re.compile(r"""f?"([a-z_]+(?:\{[^"{}]+\}[a-z_]*)*)\"""")


def names_in_code() -> list[re.Pattern[str]]:
    """Every string in the adapters that could be a name; what is filled in may be any word."""
    text = "".join(file.read_text() for file in ADAPTERS.glob("*.py"))
    return [
        re.compile(re.sub(r"\{[^{}]+\}", "[a-z_]+", literal)) for literal in LITERAL.findall(text)
    ]


def test_every_statement_is_called() -> None:
    patterns = names_in_code()
    assert {
        name for name in NAMES if not any(pattern.fullmatch(name) for pattern in patterns)
    } == set()


def test_every_name_that_is_called_is_a_statement() -> None:
    text = "".join(file.read_text() for file in ADAPTERS.glob("*.py"))
    called = set(re.findall(r'(?:query\(|one_row\([a-z._]+, )"([a-z_]+)"', text))
    assert called <= NAMES
    assert len(called) > 50


def test_no_file_is_long_and_no_statement_pasted_together() -> None:
    assert max(len(text.splitlines()) for text in FILES.values()) <= 400
    assert not [name for name in NAMES if re.search(r"\{[a-z]", query(name))]


def test_a_statement_is_the_paragraph_below_its_name() -> None:
    one = "-- name: one\n-- The first.\nSELECT 1"
    two = "-- name: two\n-- The second.\nSELECT 2"
    text = f"-- About this file.\n\n{one}\n\n-- Between them.\n\n{two}\n"
    assert parse_statements({"a.sql": text}) == {"one": one, "two": two}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-- name: one\n-- x\nSELECT 1\n\n-- name: one\n-- y\nSELECT 2", "one is given twice"),
        ("SELECT 1", "a statement without name and purpose"),
        ("-- name: one\nSELECT 1", "a statement without name and purpose"),
        ("-- name: one\n-- x\nSELECT 1\n\nFROM nothing", "a statement without name and purpose"),
    ],
    ids=["twice", "no name", "no purpose", "a blank line in it"],
)
def test_what_cannot_be_told_apart_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_statements({"a.sql": text})


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError, match="nothing_of_the_kind"):
        query("nothing_of_the_kind")
