"""Suggestions over the API: seen, accepted once and in time, and linked to what they led to."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from cadenza.application import tools as application_tools
from cadenza.application.planner import Round
from cadenza.application.ports.brain import Tools
from cadenza.application.ports.store import Transaction
from cadenza.application.transitions import save_transitions
from cadenza.domain.access import Scope
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.session import Session, SessionEnd, ToolCall
from cadenza.domain.steering_history import By
from tests.application.bench import Thinker
from tests.factories import minutes, seconds
from tests.web.reading import Reading

FASTER = {"interval_ms": 30_000, "ttl_minutes": 60, "reason": "load"}


async def suggested(world: Reading, **arguments: Any) -> tuple[Endpoint, dict[str, Any]]:
    """An endpoint that ran, and what a planner that may only advise says of it."""
    await patched(world, {"rules_mode": "advise", "detectors_mode": "advise"})
    endpoint = await world.add_endpoint("probe", min_interval=minutes(0.1))
    await world.post(f"/endpoints/{endpoint.id}/analyse")
    assert (await look(world, **arguments)).suggested == 1
    (suggestion,) = (await world.read("/suggestions"))["items"]
    return endpoint, suggestion


async def look(world: Reading, **arguments: Any) -> Round:
    async def think(_: AnalysisContext, tools: Tools) -> None:
        await tools.call("propose_interval", {**FASTER, **arguments})
        await tools.call("submit_analysis", {"reasoning": "the queue grows"})

    return await world.backend.planner(Thinker(think)).run_once()


async def patched(world: Reading, body: dict[str, Any]) -> Any:
    path, headers = "/api/v1/tenant", world.ours.headers
    answer = await world.client.patch(path, headers=headers, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def accepted(world: Reading, suggestion: dict[str, Any], **body: Any) -> Any:
    return await world.client.post(
        f"/api/v1/sessions/{suggestion['session_id']}/accept",
        headers=world.ours.headers,
        json={"call": suggestion["call"], **body},
    )


async def test_a_tenant_reads_and_sets_what_planners_may_do(world: Reading) -> None:
    tenant = await world.read("/tenant")
    assert (tenant["rules_mode"], tenant["llm_mode"]) == ("act", "advise")
    await patched(world, {"retention_days": 7})
    await patched(world, {"llm_mode": "off"})
    tenant = await world.read("/tenant")
    assert (tenant["rules_mode"], tenant["llm_mode"]) == ("act", "off")
    assert tenant["retention_days"] == 7
    answer = await world.client.patch(
        "/api/v1/tenant", headers=world.ours.headers, json={"llm_mode": "sometimes"}
    )
    assert answer.status_code == 422


async def test_what_is_advised_is_seen_and_writes_nothing(world: Reading) -> None:
    endpoint, suggestion = await suggested(world)
    assert (suggestion["tool"], suggestion["endpoint"]) == ("propose_interval", "probe")
    assert suggestion["arguments"] == FASTER
    assert suggestion["would"]["suggested_only"] is True
    assert suggestion["reasoning"] == "the queue grows"
    current = await world.read(f"/endpoints/{endpoint.id}")
    assert current["hints"] == []
    full = await world.read(f"/sessions/{suggestion['session_id']}")
    assert full["tool_calls"][0]["suggested"] is True
    assert full["runs"] == []


async def test_a_suggestion_is_accepted_with_one_call_and_only_once(world: Reading) -> None:
    endpoint, suggestion = await suggested(world)
    answers = await asyncio.gather(*(accepted(world, suggestion) for _ in range(3)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    (hint,) = (await world.read(f"/endpoints/{endpoint.id}"))["hints"]
    assert (hint["interval_ms"], hint["author"], hint["reason"]) == (30_000, "planner", "load")
    assert (await world.read("/suggestions"))["items"] == []
    full = await world.read(f"/sessions/{suggestion['session_id']}")
    assert full["tool_calls"][0]["accepted_by"].startswith("user ann")
    (entry,) = (await world.read("/audit", action="suggestion.accept"))["items"]
    assert (await world.read("/audit", action="suggestion.refused"))["items"] == []
    assert entry["data"] == {"session_id": suggestion["session_id"], "call": 0}
    timeline = await world.read(f"/jobs/{endpoint.job_id}/timeline")
    actions = [item["act"]["action"] for item in timeline["items"] if item["kind"] == "act"]
    assert "suggestion.accept" in actions


async def test_without_a_call_the_one_suggestion_is_accepted_wherever_it_stands(
    world: Reading,
) -> None:
    await patched(world, {"rules_mode": "advise", "detectors_mode": "advise"})
    endpoint = await world.add_endpoint("probe", min_interval=minutes(0.1))
    await world.post(f"/endpoints/{endpoint.id}/analyse")

    async def think(_: AnalysisContext, tools: Tools) -> None:
        await tools.call("get_latest_response", {})
        await tools.call("propose_interval", FASTER)

    await world.backend.planner(Thinker(think)).run_once()
    (suggestion,) = (await world.read("/suggestions"))["items"]
    path = f"/api/v1/sessions/{suggestion['session_id']}/accept"
    answer = await world.client.post(path, headers=world.ours.headers, json={})
    assert (answer.status_code, answer.json()["call"]) == (200, 1)
    again = await world.client.post(path, headers=world.ours.headers, json={})
    assert again.status_code == 409


async def test_what_is_past_its_time_is_no_longer_there_to_accept(world: Reading) -> None:
    endpoint = await world.add_endpoint("probe", min_interval=minutes(0.1))
    past = await world.now() - seconds(1)
    call = ToolCall("propose_interval", FASTER, {"ok": True}, suggested=True, holds_until=past)
    session = Session(
        uuid4(),
        world.ours.id,
        world.ours.job_id,
        endpoint.id,
        "rules",
        past,
        seconds(0),
        SessionEnd.SUBMITTED,
        (call,),
    )
    await world.backend.add_session(session)
    answer = await accepted(world, {"session_id": session.id, "call": 0})
    assert answer.status_code == 409
    assert "could be accepted until" in answer.json()["detail"]
    assert (await world.read("/suggestions"))["items"] == []
    assert (await world.read(f"/endpoints/{endpoint.id}"))["hints"] == []


async def test_what_the_bounds_refuse_now_stays_open(world: Reading) -> None:
    endpoint, suggestion = await suggested(world)
    body = {"interval": "2m", "reason": "mine"}
    await world.post(f"/endpoints/{endpoint.id}/hints/interval", body)
    answer = await accepted(world, suggestion)
    assert answer.status_code == 409
    assert "a person's hint" in answer.json()["detail"]
    (entry,) = (await world.read("/audit", action="suggestion.refused"))["items"]
    assert "a person's hint" in entry["data"]["reason"]
    headers = world.ours.headers
    await world.client.delete(f"/api/v1/endpoints/{endpoint.id}/hints", headers=headers)
    assert (await accepted(world, suggestion)).status_code == 200


async def test_a_server_that_dies_while_it_accepts_leaves_the_suggestion_open(
    world: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hint is written and then the connection is gone: neither hint nor mark remains."""
    endpoint, suggestion = await suggested(world)

    async def die(tx: Transaction, transitions: Any, by: By) -> None:
        await save_transitions(tx, transitions, by)
        await world.backend.break_off(tx)

    with monkeypatch.context() as patch:
        patch.setattr(application_tools, "save_transitions", die)
        assert (await accepted(world, suggestion)).status_code == 503
    assert (await world.read(f"/endpoints/{endpoint.id}"))["hints"] == []
    assert (await world.read("/suggestions"))["items"] == [suggestion]
    assert (await world.read("/audit", action="suggestion.accept"))["items"] == []
    assert (await accepted(world, suggestion)).status_code == 200
    (hint,) = (await world.read(f"/endpoints/{endpoint.id}"))["hints"]
    assert hint["interval_ms"] == 30_000


async def test_only_what_was_suggested_to_this_tenant_can_be_accepted(world: Reading) -> None:
    _, suggestion = await suggested(world)
    assert (await accepted(world, suggestion, call=1)).status_code == 404
    assert (await accepted(world, {**suggestion, "session_id": str(uuid4())})).status_code == 404
    path = f"/api/v1/sessions/{suggestion['session_id']}/accept"
    for headers, status in (
        (world.theirs.headers, 404),
        ((await world.add_key(world.ours, Scope.READ)).headers, 403),
    ):
        answer = await world.client.post(path, headers=headers, json={"call": 0})
        assert answer.status_code == status
    assert (await world.read("/suggestions", world.theirs))["items"] == []


async def test_the_same_advice_again_is_no_second_suggestion(world: Reading) -> None:
    endpoint, suggestion = await suggested(world)
    for interval_ms in (30_000, 33_000):
        await world.post(f"/endpoints/{endpoint.id}/analyse")
        assert (await look(world, interval_ms=interval_ms)).suggested == 0
    assert (await world.read("/suggestions"))["items"] == [suggestion]
    await world.post(f"/endpoints/{endpoint.id}/analyse")
    assert (await look(world, interval_ms=300_000)).suggested == 1
    assert len((await world.read("/suggestions"))["items"]) == 2


async def test_the_runs_that_a_session_led_to_are_named_with_it(world: Reading) -> None:
    endpoint, suggestion = await suggested(world)
    await accepted(world, suggestion)
    await world.finish_run(endpoint)
    await world.finish_run(endpoint)
    (run,) = (await world.read(f"/sessions/{suggestion['session_id']}"))["runs"]
    assert (run["endpoint"], run["source"]) == ("probe", "ai-interval")
    assert (await world.read(f"/sessions/{suggestion['session_id']}/runs"))["items"] == [run]
    assert (
        await world.get(f"/sessions/{suggestion['session_id']}/runs", world.theirs)
    ).status_code == 404


# --- Dismissed --------------------------------------------------------------------------------


async def test_a_dismissed_suggestion_is_gone_until_that_is_undone(world: Reading) -> None:
    _, suggestion = await suggested(world)
    path = f"/sessions/{suggestion['session_id']}"
    await world.post(f"{path}/dismiss", {})
    assert (await world.read("/suggestions"))["items"] == []
    (call,) = [call for call in (await world.read(path))["tool_calls"] if call["suggested"]]
    assert call["dismissed_by"] == "user ann"
    assert (await accepted(world, suggestion)).status_code == 409
    await world.post(f"{path}/restore", {})
    assert (await world.read("/suggestions"))["items"] == [suggestion]
    assert (await accepted(world, suggestion)).status_code == 200


async def test_what_nobody_dismissed_cannot_be_restored_nor_the_same_dismissed_twice(
    world: Reading,
) -> None:
    _, suggestion = await suggested(world)
    path, headers = f"/api/v1/sessions/{suggestion['session_id']}", world.ours.headers
    undone = await world.client.post(f"{path}/restore", json={}, headers=headers)
    assert undone.status_code == 409
    await world.post(f"/sessions/{suggestion['session_id']}/dismiss", {})
    again = await world.client.post(f"{path}/dismiss", json={}, headers=headers)
    assert again.status_code == 409
    actions = [entry["action"] for entry in (await world.read("/audit"))["items"]]
    assert actions.count("suggestion.dismiss") == 1


async def test_the_planner_does_not_suggest_again_what_was_dismissed(world: Reading) -> None:
    endpoint, suggestion = await suggested(world)
    await world.post(f"/sessions/{suggestion['session_id']}/dismiss", {})
    queue = world.backend.stores.analysis_queue
    (context,) = await queue.contexts_for([endpoint.id], suggestion["brain"].partition(" ")[0])
    assert [waiting.tool for waiting in context.waiting] == [suggestion["tool"]]
