"""The runs of schedules over the API: asked for, listed, watched, cancelled, answered."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.domain.billing import Charge, TokenUsage
from cadenza.domain.graph import ErrorCode, GraphResult
from tests.web.graph_schedules import (
    create_schedule,
    end_run,
    open_account,
    path_of,
    start_due,
    start_run,
)
from tests.web.support import Site

ASKS = GraphResult(question={"publish": "autumn"}, state=b"kept")


async def _schedule(site: Site, **fields: Any) -> dict[str, Any]:
    await open_account(site.ours)
    return await create_schedule(site.ours, **fields)


async def test_a_run_that_is_asked_for_has_a_slot_of_its_own(site: Site) -> None:
    schedule = await _schedule(site)
    answer = await site.ours.ask("POST", f"{path_of(schedule)}/run")
    assert answer.status_code == 202
    slot = answer.json()
    assert (slot["schedule_id"], slot["status"]) == (schedule["id"], "scheduled")
    page = await site.ours.done("GET", f"{path_of(schedule)}/runs")
    runs = [(run["slot_at"], run["is_manual"], run["id"]) for run in page["items"]]
    assert runs == [(schedule["next_run_at"], False, None), (slot["slot_at"], True, None)]


async def test_under_forbid_a_second_run_is_refused_while_one_is_under_way(site: Site) -> None:
    schedule = await _schedule(site)
    claim = await start_run(site, site.ours, schedule)
    refused = await site.ours.ask("POST", f"{path_of(schedule)}/run")
    assert refused.status_code == 409
    await end_run(site.backend, claim)
    await site.ours.done("POST", f"{path_of(schedule)}/run")
    waiting = await site.ours.ask("POST", f"{path_of(schedule)}/run")
    assert waiting.status_code == 409


@pytest.mark.parametrize("policy", ["allow", "replace"])
async def test_under_the_other_policies_it_is_not(site: Site, policy: str) -> None:
    schedule = await _schedule(site, concurrency_policy=policy)
    first = await start_run(site, site.ours, schedule)
    second = await start_run(site, site.ours, schedule)
    assert first.run_id != second.run_id
    run = await site.ours.done("GET", path_of(schedule, first))
    assert run["status"] == ("running" if policy == "allow" else "cancelled")


async def test_a_run_is_shown_with_its_output_its_events_and_its_cost(site: Site) -> None:
    schedule = await _schedule(site)
    claim = await start_run(site, site.ours, schedule)
    charge = Charge(
        claim.account_id,
        site.ours.tenant_id,
        claim.run_id,
        1,
        "1",
        "m",
        TokenUsage(3, 4),
        42,
        schedule_id=UUID(schedule["id"]),
    )
    async with site.backend.store.transaction() as tx:
        await tx.add_charge(charge)
    await end_run(site.backend, claim, GraphResult(output={"x": [1]}, last_lines="bye"), events=250)
    run = await site.ours.done("GET", path_of(schedule, claim))
    assert (run["status"], run["output"], run["last_lines"]) == ("success", {"x": [1]}, "bye")
    assert (run["credits"], run["attempt"], run["is_manual"]) == (42, 1, True)
    assert run["slot_at"].endswith("Z")
    numbers = [event["number"] for event in run["events"]["items"]]
    following = run["events"]["next"]
    while following is not None:
        query = {"after": following, "limit": 100}
        page = await site.ours.done("GET", f"{path_of(schedule, claim)}/events", params=query)
        numbers += [event["number"] for event in page["items"]]
        following = page["next"]
    assert numbers == list(range(1, 251))
    listed = await site.ours.done("GET", f"{path_of(schedule)}/runs")
    assert [item["credits"] for item in listed["items"]] == [0, 42]


async def test_a_run_that_failed_says_how(site: Site) -> None:
    schedule = await _schedule(site)
    claim = await start_run(site, site.ours, schedule)
    result = GraphResult(error=ErrorCode.TIMEOUT, message="after 10m", last_lines="…")
    await end_run(site.backend, claim, result)
    run = await site.ours.done("GET", path_of(schedule, claim))
    assert (run["status"], run["error_code"], run["error_message"]) == (
        *("error", "timeout"),
        "after 10m",
    )


async def test_pages_of_runs_hold_each_once_the_newest_first(site: Site) -> None:
    schedule = await _schedule(site)
    for _ in range(5):
        await end_run(site.backend, await start_run(site, site.ours, schedule))
    slots, query = list[str](), {"limit": 2}
    while True:
        page = await site.ours.done("GET", f"{path_of(schedule)}/runs", params=query)
        slots += [run["slot_at"] for run in page["items"]]
        if page["next"] is None:
            break
        query = {"limit": 2, "cursor": page["next"]}
    assert len(slots) == 6
    assert slots == sorted(set(slots), reverse=True)


async def test_a_run_that_is_cancelled_ends_now_and_once(site: Site) -> None:
    schedule = await _schedule(site)
    claim = await start_run(site, site.ours, schedule)
    run = await site.ours.done("POST", f"{path_of(schedule, claim)}/cancel")
    assert (run["status"], run["error_code"]) == ("cancelled", "aborted")
    assert run["reason"].startswith("cancelled by")
    again = await site.ours.ask("POST", f"{path_of(schedule, claim)}/cancel")
    assert again.status_code == 409
    await site.ours.done("POST", f"{path_of(schedule)}/run")


@pytest.mark.parametrize("answer", [None, False, 0, "yes", ["a"], {"approved": True}])
async def test_a_question_is_answered_once_by_any_json(site: Site, answer: Any) -> None:
    schedule = await _schedule(site)
    claim = await start_run(site, site.ours, schedule)
    path = f"{path_of(schedule, claim)}/answer"
    early = await site.ours.ask("POST", path, json={"answer": answer})
    assert early.status_code == 409
    await end_run(site.backend, claim, ASKS)
    shown = await site.ours.done("GET", path_of(schedule, claim))
    assert (shown["status"], shown["question"]) == ("waiting", ASKS.question)
    given = await site.ours.ask("POST", path, json={"answer": answer})
    assert given.status_code == 202, given.text
    again = await site.ours.ask("POST", path, json={"answer": answer})
    assert again.status_code == 409
    following = await start_due(site.backend, schedule)
    assert following.resume is not None
    assert (following.resume.answer, following.resume.state) == (answer, b"kept")
    run = await site.ours.done("GET", path_of(schedule, following))
    assert (run["answer_to"], run["slot_at"]) == (str(claim.run_id), given.json()["slot_at"])
    asked = await site.ours.done("GET", path_of(schedule, claim))
    assert asked["answered_at"] is not None


async def test_an_answer_that_is_none_is_refused_by_its_name(site: Site) -> None:
    schedule = await _schedule(site)
    claim = await start_run(site, site.ours, schedule)
    await end_run(site.backend, claim, ASKS)
    path = f"{path_of(schedule, claim)}/answer"
    for body in ({}, {"answer": "x" * 70_000}):
        answer = await site.ours.ask("POST", path, json=body)
        assert answer.status_code == 422
        assert [error["field"] for error in answer.json()["errors"]] == ["answer"]
    assert (await site.ours.done("GET", path_of(schedule, claim)))["answered_at"] is None


async def test_a_run_of_another_schedule_is_not_there(site: Site) -> None:
    schedule = await _schedule(site)
    other = await create_schedule(site.ours)
    claim = await start_run(site, site.ours, schedule)
    before = await site.contents()
    for method, path, body in (
        ("GET", "", None),
        ("GET", "/events", None),
        ("POST", "/cancel", None),
        ("POST", "/answer", {"answer": 1}),
    ):
        wrong = await site.ours.ask(method, f"{path_of(other, claim)}{path}", json=body)
        missing = f"{path_of(schedule)}/runs/{uuid4()}{path}"
        nowhere = await site.ours.ask(method, missing, json=body)
        assert (wrong.status_code, nowhere.status_code) == (404, 404), f"{method} {path}"
    assert await site.contents() == before


@pytest.mark.parametrize("policy", ["forbid", "allow", "replace"])
async def test_what_changes_while_a_run_is_under_way_leaves_it_alone(
    site: Site, policy: str
) -> None:
    """Disabled, enabled and changed: the run goes on to its end, and one slot waits."""
    await open_account(site.ours)
    schedule = await create_schedule(site.ours, concurrency_policy=policy, input={"n": 1})
    claim = await start_run(site, site.ours, schedule)
    for change in ({"enabled": False}, {"enabled": True}, {"input": {"n": 2}, "cron": "1 9 * * *"}):
        await site.ours.done("PATCH", path_of(schedule), change)
        assert (await site.ours.done("GET", path_of(schedule, claim)))["status"] == "running"
    await end_run(site.backend, claim)
    runs = (await site.ours.done("GET", f"{path_of(schedule)}/runs"))["items"]
    assert [run["status"] for run in runs] == ["scheduled", "success"]
    assert runs[0]["slot_at"].endswith("09:01:00Z")
    assert claim.schedule.definition.input == {"n": 1}
