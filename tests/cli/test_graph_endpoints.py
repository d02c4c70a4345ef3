"""`cadenza endpoints` for one that calls a graph."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from tests.cli.support import Person
from tests.web.graph_schedules import GRAPH

CREATE = ("endpoints", "create", "newsroom/researcher", "--every", "5m")


@pytest.fixture
def owner(person: Person) -> Person:
    """With an account that has credits, and a job."""
    person.gets("accounts", "create", "research")
    person.gets("accounts", "top-up", "research", "1000000")
    person.gets("jobs", "create", "newsroom")
    return person


def test_a_graph_is_called_with_its_input_and_limits(owner: Person, tmp_path: Path) -> None:
    (tmp_path / "input.json").write_text('{"topic": "autumn"}')
    made = owner.gets(
        *CREATE,
        "--graph",
        GRAPH,
        "--input",
        "@input.json",
        "--account",
        "research",
        "--limit-time",
        "90s",
        "--limit-calls",
        "3",
    )
    target = made["target"]
    assert (target["graph"], target["input"]) == (GRAPH, {"topic": "autumn"})
    assert (target["limits"]["time"], target["limits"]["calls"]) == ("1m30s", 3)
    shown = owner.says("endpoints", "show", "newsroom/researcher")
    for text in (GRAPH, '{"topic": "autumn"}', target["grant_id"], "research", "1m30s"):
        assert text in shown
    assert GRAPH in owner.says("endpoints", "list")
    grant = owner.says("grants", "show", target["grant_id"])
    assert made["id"] in grant


def test_input_and_limits_are_changed_and_taken_away(owner: Person) -> None:
    owner.gets(*CREATE, "--graph", GRAPH, "--input", '{"a": 1}', "--limit-calls", "3")
    edit = ("endpoints", "edit", "newsroom/researcher")
    changed = owner.gets(*edit, "--input", '{"b": 2}', "--limit-calls", "none")
    assert changed["target"]["input"] == {"b": 2}
    assert changed["target"]["limits"]["calls"] is None
    called = owner.gets(*edit, "--url", "https://example.com/")
    assert (called["target"]["kind"], called["target"]["graph"]) == ("http", None)


def test_what_is_wrong_with_a_graph_is_told_with_the_fix(owner: Person) -> None:
    bad_input = owner.cadenza(*CREATE, "--graph", GRAPH, "--input", "[1]")
    assert bad_input.code == 2
    assert "JSON object" in bad_input.err
    both = owner.cadenza(*CREATE, "--graph", GRAPH, "--url", "https://example.com/")
    assert both.code != 0
    assert "exactly one of url, queue, command, graph and function" in both.err


def test_a_test_of_a_graph_says_what_to_do_instead(owner: Person) -> None:
    owner.gets(*CREATE, "--graph", GRAPH)
    refused = owner.cadenza("test", "newsroom/researcher")
    assert refused.code != 0
    assert "cadenza run" in refused.err


def test_one_that_no_worker_runs_is_shown_as_late(owner: Person) -> None:
    made = owner.gets(*CREATE, "--graph", GRAPH)
    backend = owner.site.backend

    tenant_id = UUID(owner.gets("whoami")["tenant_id"])

    async def wait_in_vain() -> None:
        due_at = await backend.now() - timedelta(minutes=30)
        await backend.change_endpoint(tenant_id, UUID(made["id"]), next_run_at=due_at)

    owner.site.wait_for(wait_in_vain())
    shown = owner.says("endpoints", "show", "newsroom/researcher")
    assert "waiting for a graph worker" in shown
