"""Reference and concepts name what the code has: no more, no less."""

import ast
import re
from pathlib import Path

import pytest

from cadenza.adapters.expressions import cel, shape
from cadenza.application.rule_values import endpoint_values, health_values
from cadenza.domain import rule
from cadenza.domain.analysis import LONGEST_RECENT_BODY
from cadenza.domain.detectors import staleness, threshold, waiting
from cadenza.web.api import problems
from tests.documents import loops
from tests.documents.commands import ROOT

REFERENCE = ROOT / "docs/reference"
APPLICATION = ROOT / "src/cadenza/application"
KIND = re.compile(r"[a-z-]+\.[a-z_.-]*[a-z]")
ABOUT = (
    "run", "endpoint", "job", "manifest", "planner", "session", "quota", "provider", "schedule",
    "grant", "account", "tenant", "user", "key", "signing-key", "sign-in", "suggestion", "person",
    "invitation", "audit", "incident", "channel", "route", "webhook", "delivery",
)  # fmt: skip
ONLY_LOGGED = {
    "run.late", "run.unsaved", "run.started", "run.given_back", "run.lease_lost", "session.put_off",
    "session.over_quota", "session.unpaid",
}  # fmt: skip


def words_in(page: Path) -> set[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return set(re.findall(r"`([^`]+)`", text))


def column(page: Path, heading: str) -> list[str]:
    """The first column of the table that begins with this heading."""
    after = page.read_text().split(f"| {heading} |", 1)[1]
    rows = after.split("\n\n", 1)[0].split("\n")[2:]
    return [row.split("|")[1].strip().strip("`") for row in rows]


def test_every_kind_that_is_written_is_among_the_events() -> None:
    constants = {
        node.value
        for path in APPLICATION.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    kinds = {text for text in constants if KIND.fullmatch(text) and text.split(".")[0] in ABOUT}
    assert len(kinds) > 40
    assert kinds - ONLY_LOGGED - words_in(REFERENCE / "events.md") == set()


def test_every_type_of_a_problem_has_a_section() -> None:
    page = REFERENCE / "problems.md"
    row = re.compile(r"^\| \[`([a-z-]+)`\]\(#\1\) \| (\d+) \| (.+) \|$", re.MULTILINE)
    rows = row.findall(page.read_text())
    known = {(name, str(status)): title for _, status, name, title in reversed(problems._KINDS)}
    shown = {(name, status): title for name, status, title in rows}
    assert known.items() <= shown.items()
    others = {name for name, _ in shown} - {name for name, _ in known}
    assert others == {*problems._TITLES.values(), "unavailable", "internal"} - {"not-found"}
    sections = re.findall(r"^## ([a-z-]+)$", page.read_text(), re.MULTILINE)
    assert sections == [name for name, *_ in rows]


def test_the_rule_language_has_the_names_and_functions_of_the_code() -> None:
    page = REFERENCE / "rule-language.md"
    assert set(column(page, "name")) == set(rule.NAMES)
    functions = page.read_text().split("## Functions")[1].split("## Limits")[0]
    named = set(re.findall(r"\b[a-zA-Z_]+\b", " ".join(re.findall(r"`([^`]+)`", functions))))
    assert named >= cel.FUNCTIONS | shape._MACROS


def test_the_rule_language_has_every_field_that_an_expression_can_read() -> None:
    page = REFERENCE / "rule-language.md"
    assert set(column(page, "field of `endpoint`")) == _keywords(endpoint_values) | {
        "status", "well", "status_code", "answered_at", "duration_ms",
    }  # fmt: skip
    rates = {f"{what}_{hours}h" for what in ("runs", "success_rate") for hours in (1, 4, 24)}
    assert set(column(page, "field of `health`")) == _keywords(health_values) | rates


def _keywords(function: object) -> set[str]:
    """The names that it gives values to."""
    source = (APPLICATION / "rule_values.py").read_text()
    (found,) = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name == getattr(function, "__name__", "")
    )
    calls = [node for node in ast.walk(found) if isinstance(node, ast.Call)]
    known = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "_known"]
    return {word.arg for call in known for word in call.keywords if word.arg is not None}


@pytest.mark.parametrize(
    ("what", "limit"),
    [
        ("characters of an expression", cel.MAX_LENGTH),
        ("nested brackets", shape.MAX_BRACKETS),
        ("nested macros", shape.MAX_NESTED),
        ("patterns of an expression", shape.MAX_PATTERNS),
        ("characters of a pattern", shape.MAX_PATTERN),
        ("rules of a job", rule.MAX_RULES),
        ("answers in a row (`for`)", rule.MAX_RUNS),
        ("characters of a body that rules read", LONGEST_RECENT_BODY),
    ],
)
def test_the_rule_language_has_the_limits_of_the_code(what: str, limit: int) -> None:
    assert f"| {what} | {limit:,} |" in (REFERENCE / "rule-language.md").read_text()


def test_how_to_shape_an_answer_names_what_detectors_read() -> None:
    named = words_in(ROOT / "docs/concepts/shape-answers.md")
    read = {f"*{suffix}" for suffix in threshold.SUFFIXES}
    read |= {*staleness.FIELDS, *waiting._UNTIL, *waiting._IN_SECONDS, *waiting._DEPENDENCIES}
    assert read | waiting._AWAY <= named


@pytest.mark.parametrize(("path", "drawn"), loops.pictures(), ids=["light", "dark"])
def test_the_picture_of_the_loops_is_the_one_that_is_drawn(path: Path, drawn: str) -> None:
    assert path.read_text() == drawn, "python -m tests.documents.loops"
