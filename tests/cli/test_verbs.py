"""The short verbs: run, pause, resume, hint, explain, preview, analyse, test, tail; and runs."""

import re
from uuid import uuid4

import pytest

from cadenza.domain.session import ToolCall
from tests.cli.support import Person
from tests.factories import minutes


def test_a_run_that_was_asked_for_is_waited_for(person: Person) -> None:
    person.queue()
    text = person.says("run", "queue", "--wait")
    assert "queue_depth" in text
    assert "by you" in text
    (run,) = [
        run
        for run in person.cadenza("runs", "list", "--endpoint", "queue", "--json").lines
        if run["is_manual"]
    ]
    assert run["status"] == "success"
    assert "queue_depth" in person.says("runs", "show", run["id"])
    assert person.gets("runs", "show", run["id"])["plan"] is None


def test_a_run_that_fails_ends_with_one(person: Person) -> None:
    person.queue()
    person.cadenza("endpoints", "edit", "queue", "--success-when", "status == 599")
    done = person.cadenza("run", "queue", "--wait", "--table")
    assert done.code == 1
    assert "ended with failure" in done.err
    assert "failure" in person.says("runs", "list", "--status", "failure", "--since", "1h")
    assert "No runs match." in person.says("runs", "list", "--status", "timeout")


def test_a_run_is_asked_for_without_waiting(person: Person) -> None:
    made = person.queue()
    assert person.gets("run", "queue")["endpoint_id"] == made["id"]


def test_a_run_that_is_not_there_is_not_found(person: Person) -> None:
    assert person.cadenza("runs", "show", str(uuid4())).code == 3
    assert person.cadenza("runs", "show", "queue").code == 3


def test_an_endpoint_is_paused_and_resumed(person: Person) -> None:
    person.queue()
    assert "paused until resumed" in person.says("pause", "queue", "--reason", "moving")
    assert "by person until resumed: moving" in person.says("endpoints", "show", "queue")
    assert "paused" in person.says("endpoints", "list", "--state", "paused")
    assert "is resumed" in person.says("resume", "queue")
    until = person.gets("pause", "queue", "--until", "2030-01-01T00:00:00Z")["pauses"][0]["until"]
    assert until.startswith("2030-01-01T00:00:00")
    wrong = person.cadenza("pause", "queue", "--until", "tomorrow-ish")
    assert wrong.code == 2
    assert "2026-03-01T12:00" in wrong.err
    past = person.cadenza("pause", "queue", "--until", "2020-01-01")
    assert past.code == 2
    assert "is in the past" in past.err


def test_hints_bend_the_schedule_and_are_cleared(person: Person) -> None:
    person.queue()
    hinted = person.gets("hint", "interval", "queue", "30s", "--for", "2h", "--reason", "a sale")
    assert hinted["hints"][0]["interval_ms"] == 30_000
    assert "every 30s until" in person.says("endpoints", "show", "queue")
    assert "Next run: in" in person.says("hint", "one-shot", "queue", "--in", "10m")
    kinds = {hint["kind"] for hint in person.gets("endpoints", "show", "queue")["hints"]}
    assert kinds == {"interval", "one-shot"}
    assert person.gets("hint", "clear", "queue")["hints"] == []
    assert person.cadenza("hint", "one-shot", "queue").code == 2


def test_explain_reads_as_a_person_explains_it(person: Person) -> None:
    person.queue()
    person.cadenza("hint", "interval", "queue", "30m", "--reason", "a sale")
    text = person.says("explain", "queue")
    assert text.startswith("shop/queue\n")
    assert "How it was chosen:" in text
    assert ": a sale." in text
    assert not re.search(r"\dT\d", text)  # instants are written by the person's own clock
    assert person.gets("explain", "queue")["plan"]["candidates"]


def test_preview_shows_the_hints_of_now_beside_the_baseline(person: Person) -> None:
    person.queue()
    person.cadenza("hint", "interval", "queue", "30m", "--for", "4h")
    text = person.says("preview", "queue", "-n", "4")
    assert "next run" in text
    assert "without hints" in text
    assert "hint by you" in text
    assert len(person.gets("preview", "queue", "-n", "4")["planned"]) == 4
    person.cadenza("endpoints", "create", "shop/asked", "--url", person.site.target, "--on-demand")
    assert "cadenza run asked" in person.says("preview", "asked")


def test_a_test_calls_the_target_and_tells_what_came(person: Person) -> None:
    person.queue()
    assert "queue_depth" in person.says("test", "queue")
    person.cadenza("endpoints", "edit", "queue", "--success-when", "status == 599")
    done = person.cadenza("test", "queue", "--table")
    assert done.code == 1
    assert "failure" in done.out


def test_the_planner_is_asked_for_a_look(person: Person) -> None:
    made = person.queue()
    assert person.gets("analyse", "queue") == {"endpoint_id": made["id"]}
    assert person.cadenza("sessions", "list", "--endpoint", "queue", "--json").out == ""
    assert person.cadenza("sessions", "show", str(uuid4())).code == 3


def test_tail_follows_one_job_and_leaves_the_others_out(person: Person) -> None:
    person.queue("shop/queue", "--every", "1s")
    person.queue("depot/queue", "--every", "1s")
    done = person.cadenza("tail", "--count", "2", "--job", "depot", "--table")
    assert done.code == 0, done.err
    assert done.out.count("depot/queue  success 200") == 2
    assert "shop/queue" not in done.out
    by_endpoint = person.cadenza("tail", "-n", "1", "--endpoint", "shop/queue", "--json")
    assert by_endpoint.lines[-1]["data"]["endpoint_name"] == "queue"


@pytest.mark.parametrize(
    "arguments", [("pause", "nope"), ("explain", "a/b"), ("hint", "clear", "x")]
)
def test_verbs_on_what_is_not_there_end_with_three(
    person: Person, arguments: tuple[str, ...]
) -> None:
    assert person.cadenza(*arguments).code == 3


def test_what_the_planner_did_and_why_is_listed_and_shown(person: Person) -> None:
    made = person.queue()
    arguments = {"interval_ms": 30_000}
    call = ToolCall("propose_interval", arguments, {"took_effect": True}, took_effect=True)
    session_id = person.add_session(made, call, reasoning="the queue grows\x1b[2J")
    assert "propose_interval" in person.says("sessions", "list", "--job", "shop")
    session = person.says("sessions", "show", session_id)
    assert 'propose_interval {"interval_ms": 30000}' in session
    assert "the queue grows\\x1b[2J" in session
    assert person.gets("sessions", "show", session_id)["brain"] == "rules"


def test_a_tool_that_was_called_again_and_again_is_listed_once_with_a_count(person: Person) -> None:
    endpoint = person.queue()
    refused = [ToolCall("pause_until", {}, {"ok": False}, refusal="invalid") for _ in range(14)]
    done = ToolCall("propose_interval", {}, {"ok": True}, took_effect=True)
    person.add_session(endpoint, *refused, done)
    listed = person.says("sessions", "list", "--wide")
    assert "propose_interval; refused: pause_until (14×)" in listed


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("get_latest_response", "read: get_latest_response"),
        ("clear_hints", "no change: clear_hints"),
        ("submit_analysis", "submitted: submit_analysis"),
    ],
)
def test_a_call_that_changed_nothing_is_shown_as_what_it_was(
    person: Person, tool: str, said: str
) -> None:
    session_id = person.add_session(
        person.queue(), ToolCall(tool, {}, {"ok": True}), reasoning="calm"
    )
    assert said in person.says("sessions", "show", session_id)


def test_a_suggestion_is_listed_and_accepted_once(person: Person) -> None:
    made = person.queue()
    assert "advise" in person.says("sessions", "suggestions")
    arguments = {"interval_ms": 30_000, "reason": "it grows"}
    in_an_hour = person.site.wait_for(person.site.backend.now()) + minutes(60)
    call = ToolCall(
        "propose_interval", arguments, {"ok": True}, suggested=True, holds_until=in_an_hour
    )
    session_id = person.add_session(made, call)
    assert session_id[:13] in person.says("sessions", "suggestions")
    assert "Done" in person.says("sessions", "accept", session_id)
    endpoint = person.gets("endpoints", "show", "shop/queue")
    assert [hint["interval_ms"] for hint in endpoint["hints"]] == [30_000]
    assert person.cadenza("sessions", "accept", session_id).code == 1
    assert session_id[:13] not in person.says("sessions", "suggestions")
