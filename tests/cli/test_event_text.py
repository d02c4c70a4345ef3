"""An event is a line: what was done, to what, by whom, and why."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cadenza.cli.event_text import sentence
from cadenza.cli.times import Times

TIMES = Times(datetime(2026, 3, 2, 12, tzinfo=UTC), lambda at: at.astimezone(UTC))
RUN = {"status": "failure", "status_code": 503, "error_kind": "status", "source": "ai-interval"}


def acted(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"brain": "rules", "tools": [tool], "actions": [{"tool": tool, "arguments": arguments}]}


@pytest.mark.parametrize(
    ("kind", "data", "line"),
    [
        (
            "planner.acted",
            acted("propose_interval", interval_ms=30_000, ttl_minutes=10, reason="It is deep."),
            "the planner runs it every 30 s for 10 min: It is deep.  (rules)",
        ),
        (
            "planner.acted",
            acted("propose_next_time", next_run_in_ms=0, endpoint="warm", reason="It is cold."),
            "the planner runs warm once now: It is cold.  (rules)",
        ),
        (
            "planner.suggested",
            acted("pause_until", until_iso="2026-03-02T12:30:00Z", reason="Maintenance."),
            "the planner suggests: pauses it until 12:30:00: Maintenance.  (rules)",
        ),
        ("planner.acted", acted("pause_until", until_iso=None), "the planner resumes it  (rules)"),
        ("planner.acted", acted("clear_hints"), "the planner clears the hints of it  (rules)"),
        (
            "planner.acted",
            {"brain": "llm", "tools": ["clear_hints"]},
            "the planner clears the hints of it  (llm)",
        ),
        (
            "run.failed",
            {**RUN, "failure_count": 3},
            "failure 503 status  (interval hint, 3 failures in a row)",
        ),
        (
            "run.finished",
            {
                **RUN,
                "status": "success",
                "status_code": 200,
                "error_kind": None,
                "failure_count": 0,
                "hint_by": "rule",
            },
            "success 200  (hint by a rule)",
        ),
        (
            "endpoint.pause",
            {"until": "None", "reason": "maintenance", "by": "user ada"},
            "paused until resumed by user ada: maintenance",
        ),
        (
            "job.pause",
            {"until": "2026-03-02 13:30:00+00:00", "reason": "", "by": "user ada"},
            "job paused until 13:30:00 by user ada",
        ),
        ("endpoint.archive", {"by": "user ada"}, "archived by user ada"),
        ("job.create", {"name": "shop", "by": "user ada"}, "job created shop by user ada"),
        (
            "endpoint.change",
            {"fields": ["every"], "by": "user ada"},
            'changed by user ada  {"fields": ["every"]}',
        ),
    ],
)
def test_an_event_is_one_line(kind: str, data: dict[str, Any], line: str) -> None:
    assert sentence(kind, data, TIMES) == line


@pytest.mark.parametrize("arguments", [None, "words", [1], {"interval_ms": "x"}])
def test_arguments_that_are_none_are_no_trouble(arguments: Any) -> None:
    action = {"tool": "propose_interval", "arguments": arguments}
    data = {"brain": "llm", "tools": ["propose_interval"], "actions": [action]}
    assert sentence("planner.acted", data, TIMES).startswith("the planner runs it every ?")
