"""`cadenza schedules`: from its creation to the answer of a question, as a person sees it."""

import json
from pathlib import Path
from typing import Any

import pytest

from cadenza.cli import schedule_lookup
from cadenza.domain.billing import Charge, TokenUsage
from cadenza.domain.graph import ErrorCode, GraphResult
from cadenza.domain.known_graph import AnnouncedGraph, Announcement
from cadenza.domain.slot import SlotClaim
from tests.cli.support import Person
from tests.web.graph_schedules import GRAPH, announce, end_run, start_due

NIGHTLY = ("--cron", "0 3 * * *")


@pytest.fixture
def owner(person: Person) -> Person:
    """With an account that has credits."""
    person.gets("accounts", "create", "research")
    person.gets("accounts", "top-up", "research", "1000000")
    return person


def _create(owner: Person, *more: str, name: str = "digest") -> dict[str, Any]:
    return owner.gets("schedules", "create", GRAPH, "--name", name, *NIGHTLY, *more)


def _start(owner: Person, schedule: dict[str, Any]) -> SlotClaim:
    owner.gets("schedules", "run", schedule["id"])
    return owner.site.wait_for(start_due(owner.site.backend, schedule))


def _end(owner: Person, claim: SlotClaim, result: GraphResult, events: int = 0) -> None:
    owner.site.wait_for(end_run(owner.site.backend, claim, result, events=events))


def test_a_schedule_is_created_with_all_its_options(owner: Person, tmp_path: Path) -> None:
    assert "cadenza schedules create" in owner.says("schedules", "list")
    (tmp_path / "input.json").write_text('{"topic": "autumn"}')
    made = _create(
        owner,
        "--timezone",
        "Europe/Paris",
        "--input",
        "@input.json",
        "--policy",
        "allow",
        "--account",
        "research",
        "--requires",
        "gpu",
        "--requires",
        "region=eu",
        "--limit-time",
        "90s",
        "--limit-memory",
        "256",
        "--limit-credits",
        "20,000",
        "--cpus",
        "0.5",
        "--gpus",
        "2",
    )
    assert (made["timezone"], made["input"]) == ("Europe/Paris", {"topic": "autumn"})
    assert (made["concurrency_policy"], made["requires"]) == ("allow", ["gpu", "region=eu"])
    limits = made["limits"]
    assert (limits["time"], limits["memory_mb"], limits["credits"]) == ("1m30s", 256, 20_000)
    assert (limits["cpus"], limits["gpus"]) == (0.5, 2)
    shown = owner.says("schedules", "show", "digest")
    assert "0 3 * * * (Europe/Paris)" in shown
    assert shown.count("03:00:00") == 0 or "next runs" in shown
    assert '{"topic": "autumn"}' in shown
    table = owner.says("schedules", "list")
    assert "digest" in table
    assert "never" in table


def test_one_without_a_name_is_found_by_how_its_id_begins(owner: Person) -> None:
    made = owner.gets("schedules", "create", GRAPH, *NIGHTLY)
    assert owner.gets("schedules", "show", made["id"])["id"] == made["id"]
    assert owner.gets("schedules", "show", made["id"][:20])["id"] == made["id"]
    _create(owner)
    several = owner.cadenza("schedules", "show", made["id"][:8])
    assert several.code == 2
    assert "Which one?" in several.err
    unknown = owner.cadenza("schedules", "show", "digset")
    assert unknown.code == 3
    assert "digest" in unknown.err


def test_what_is_not_given_stays_and_none_takes_away(owner: Person) -> None:
    _create(owner, "--limit-calls", "5", "--requires", "gpu", "--input", '{"a": 1}')
    change = ("--limit-steps", "9", "--requires", "none", "--name", "paper")
    changed = owner.gets("schedules", "update", "digest", *change)
    assert (changed["name"], changed["requires"], changed["input"]) == ("paper", [], {"a": 1})
    assert (changed["limits"]["calls"], changed["limits"]["steps"]) == (5, 9)
    cleared = owner.gets("schedules", "update", "paper", "--limit-calls", "none")
    assert cleared["limits"]["calls"] is None
    assert owner.cadenza("schedules", "update", "paper").code == 2


def test_it_is_disabled_enabled_and_deleted(owner: Person) -> None:
    made = _create(owner)
    assert "Disabled" in owner.says("schedules", "disable", "digest")
    assert "disabled" in owner.says("schedules", "list")
    assert "it runs in" in owner.says("schedules", "enable", "digest")
    assert owner.gets("schedules", "show", "digest")["next_run_at"] == made["next_run_at"]
    assert owner.gets("schedules", "delete", "digest", "--yes")["id"] == made["id"]
    assert owner.cadenza("schedules", "show", "digest").code == 3
    assert owner.gets("grants", "show", made["grant_id"])["state"] == "revoked"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--input", "[1]", *NIGHTLY), "JSON object"),
        (("--input", "{oops", *NIGHTLY), "not JSON"),
        (("--input", "@missing.json", *NIGHTLY), "cannot be read"),
        (("--limit-calls", "many", *NIGHTLY), "--limit-calls"),
        ((), "--cron"),
        (("--account", "nobody", *NIGHTLY), "nobody"),
        (("--cron", "never"), "cron"),
        (("--policy", "perhaps", *NIGHTLY), "concurrency_policy"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(
    owner: Person, options: tuple[str, ...], words: str
) -> None:
    done = owner.cadenza("schedules", "create", GRAPH, *options)
    assert done.code in (1, 2, 3)
    assert words in done.err
    assert owner.cadenza("schedules", "list", "--json").lines == []


def test_without_credits_it_says_so(owner: Person) -> None:
    owner.gets("accounts", "create", "empty")
    done = owner.cadenza("schedules", "create", GRAPH, *NIGHTLY, "--account", "empty")
    assert done.code == 1
    assert "no credits" in done.err


def test_a_run_is_listed_and_shown_with_events_output_and_cost(owner: Person) -> None:
    schedule = _create(owner)
    claim = _start(owner, schedule)
    refused = owner.cadenza("schedules", "run", "digest")
    assert refused.code == 1
    assert "under way" in refused.err

    async def charge() -> None:
        usage = TokenUsage(3, 4)
        one = Charge(claim.account_id, claim.tenant_id, claim.run_id, 1, "1", "m", usage, 4200)
        async with owner.site.backend.store.transaction() as tx:
            await tx.add_charge(one)

    owner.site.wait_for(charge())
    result = GraphResult(output={"poem": "leaves"}, last_lines="first\x1b[2J\nsecond\n")
    _end(owner, claim, result, events=150)
    runs = owner.cadenza("schedules", "runs", "digest", "--json").lines
    assert [run["status"] for run in runs] == ["scheduled", "success"]
    table = owner.says("schedules", "runs", "digest")
    assert str(claim.run_id)[:13] in table
    assert "$0.0042" in table
    shown = owner.says("schedules", "runs", "digest", str(claim.run_id)[:20])
    assert '{"poem": "leaves"}' in shown
    assert "4,200 credits ($0.0042)" in shown
    assert "second" in shown
    assert "\x1b" not in shown
    events = [line for line in shown.splitlines() if "custom" in line]
    assert len(events) == 150
    assert all(line.split()[1] == "s" and line.split()[0][0] in "+-" for line in events)


def test_a_run_that_failed_says_how(owner: Person) -> None:
    schedule = _create(owner)
    claim = _start(owner, schedule)
    _end(owner, claim, GraphResult(error=ErrorCode.TIMEOUT, message="it took too long"))
    assert "error timeout" in owner.says("schedules", "runs", "digest")
    shown = owner.says("schedules", "runs", "digest", str(claim.run_id))
    assert "timeout: it took too long" in shown


def test_a_run_under_way_is_cancelled(owner: Person) -> None:
    schedule = _create(owner)
    nothing = owner.cadenza("schedules", "cancel", "digest")
    assert nothing.code == 3
    claim = _start(owner, schedule)
    assert owner.gets("schedules", "cancel", "digest")["id"] == str(claim.run_id)
    assert owner.cadenza("schedules", "cancel", "digest", str(claim.run_id)).code == 1
    assert "cancelled" in owner.says("schedules", "runs", "digest")


@pytest.mark.parametrize(
    ("answer", "meant"), [('{"approved": true}', {"approved": True}), ("go on", "go on")]
)
def test_a_question_is_answered(owner: Person, answer: str, meant: Any) -> None:
    schedule = _create(owner)
    claim = _start(owner, schedule)
    _end(owner, claim, GraphResult(question={"publish": "poem"}, state=b"kept"))
    assert json.dumps({"publish": "poem"}) in owner.says(
        "schedules", "runs", "digest", str(claim.run_id)
    )
    owner.says("schedules", "answer", "digest", answer)
    assert "answered" in owner.says("schedules", "runs", "digest")
    following = owner.site.wait_for(start_due(owner.site.backend, schedule))
    assert following.resume.answer == meant
    assert owner.cadenza("schedules", "answer", "digest", answer).code == 3


def test_tables_fit_eighty_columns(owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cadenza.cli.output.WIDE", 80)
    _end(owner, _start(owner, _create(owner)), GraphResult(output=1))
    for words in (("list",), ("runs", "digest")):
        table = owner.says("schedules", *words)
        assert all(len(line.rstrip()) <= 80 for line in table.splitlines()), table
        assert "…" not in table, table


def test_a_file_of_schedules_is_applied_exported_and_pruned(owner: Person, tmp_path: Path) -> None:
    file = tmp_path / "cadenza.yaml"
    schedule = f"  - name: digest\n    graph_id: {GRAPH}\n    cron: 0 3 * * *\n"
    file.write_text(f"jobs: []\nschedules:\n{schedule}")
    assert "1 schedule" in owner.cadenza("validate", "-f", file).out
    applied = owner.cadenza("apply", "-f", file, "--yes")
    assert applied.code == 0, applied.err
    assert "+ schedule digest" in applied.out
    assert "account: research" in applied.out
    assert "Nothing to change" in owner.cadenza("apply", "-f", file, "--yes").out
    assert owner.cadenza("export", "-o", "exported.yaml").code == 0
    assert "Nothing to change" in owner.cadenza("apply", "-f", "exported.yaml", "--yes").out
    file.write_text(f"jobs: []\nschedules:\n{schedule}    input: {{model: nobody-knows}}\n")
    refused = owner.cadenza("apply", "-f", file, "--yes")
    assert refused.code == 1
    assert "digest.input.model" in refused.err
    file.write_text("jobs: []\n")
    assert "Nothing to change" in owner.cadenza("apply", "-f", file, "--yes").out
    pruned = owner.cadenza("apply", "-f", file, "--yes", "--prune")
    assert "- schedule digest" in pruned.out
    assert "1 deleted" in pruned.out
    assert owner.cadenza("schedules", "list", "--json").lines == []


def test_a_name_is_found_wherever_it_is_among_the_others(
    owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names are asked of the server: a list of those there are may be long."""
    monkeypatch.setattr(schedule_lookup, "MOST_LOOKED_AT", 1)
    made = [_create(owner, name=f"poem {number}") for number in range(3)]
    for schedule in made:
        assert owner.gets("schedules", "show", schedule["name"])["id"] == schedule["id"]
        assert owner.gets("schedules", "show", schedule["id"])["name"] == schedule["name"]


def test_graphs_are_listed_and_shown_and_one_that_nobody_knows_is_warned_of(owner: Person) -> None:
    nothing = owner.says("graphs", "list")
    assert "No graphs" in nothing
    assert "cadenza graph-worker" in nothing
    created = owner.cadenza("schedules", "create", GRAPH, "--name", "poem", *NIGHTLY, "--table")
    assert created.code == 0
    assert "Warning: no worker knows the graph" in created.err
    poet = AnnouncedGraph(GRAPH, None, {"type": "object"})
    broken = AnnouncedGraph("langgraph:broken", "no module named shop")
    announcement = Announcement(("gpu",), (poet, broken))
    owner.site.wait_for(announce(owner.site.backend, announcement))
    listed = owner.says("graphs", "list")
    assert "no module named shop" in listed
    assert "gpu" in listed
    shown = owner.says("graphs", "show", poet.graph_id)
    assert '{"type": "object"}' in shown
    assert "test (gpu), ready" in shown
    assert owner.gets("graphs", "show", poet.graph_id)["state"] == "ready"
    assert owner.cadenza("schedules", "show", "poem").err == ""
    missing = owner.cadenza("graphs", "show", "langgraph:brokn")
    assert missing.code != 0
    assert "Did you mean langgraph:broken?" in missing.err
