"""Whom a brain can reach, and how often."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from cadenza.adapters.memory.store import MemoryStore
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.store import Transaction
from cadenza.domain import steering
from cadenza.domain.endpoint import OnDemand
from cadenza.domain.instants import iso
from cadenza.domain.session import ToolCall
from tests.application.bench import Bench, simulated
from tests.application.tool_calls import EIGHT, INTERVAL, NOW, minute_after_noon, refused
from tests.factories import NOON, id_of, minutes, seconds

# --- Whom it concerns -------------------------------------------------------------------------


@simulated
async def test_an_act_may_concern_a_sibling_by_its_name() -> None:
    bench = await minute_after_noon()
    await bench.add("sibling", baseline=OnDemand())
    before = bench.endpoint()
    tools = await bench.toolbox()
    answer = await tools.call("propose_next_time", {**NOW, "endpoint": "sibling"})
    assert (answer["endpoint"], answer["next_run_at"]) == ("sibling", iso(bench.now))
    assert bench.endpoint("sibling").one_shot_hint is not None
    assert bench.endpoint() == before
    assert (await tools.call("propose_interval", {**INTERVAL, "endpoint": "probe"}))["ok"]
    assert bench.endpoint().interval_hint is not None


@simulated
@pytest.mark.parametrize(
    "tool", ["propose_interval", "propose_next_time", "pause_until", "clear_hints"]
)
@pytest.mark.parametrize(
    "name",
    ["foreign", "other job", "archived", "Sibling", "sibling ", "*", "' or 1=1 --", "id", "../x"],
)
async def test_a_name_outside_the_job_is_refused_and_those_inside_are_told(
    tool: str, name: str
) -> None:
    bench = await minute_after_noon()
    await bench.add("sibling")
    await bench.add("archived")
    await bench.act("archived", steering.archive)
    await bench.add("foreign", tenant_id=id_of("other"), job_id=id_of("other job"))
    await bench.add("other job", job_id=id_of("another job"))
    arguments = {
        "propose_interval": INTERVAL,
        "propose_next_time": NOW,
        "pause_until": {"until_iso": iso(NOON + minutes(30))},
        "clear_hints": {},
    }[tool]
    name = str(id_of("sibling")) if name == "id" else name
    tools = await bench.toolbox()
    await refused(tools, tool, {**arguments, "endpoint": name}, "this job has sibling")


@simulated
async def test_a_name_of_another_tenant_in_a_job_with_the_same_id_is_out_of_reach() -> None:
    bench = await minute_after_noon()
    await bench.add("foreign", tenant_id=id_of("other"))
    before = bench.endpoint("foreign")
    tools = await bench.toolbox()
    answer = await tools.call("propose_next_time", {**NOW, "endpoint": "foreign"})
    assert answer["ok"] is False
    assert bench.endpoint("foreign") == before


@simulated
async def test_an_archived_endpoint_cannot_be_moved() -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    await bench.act("probe", steering.archive)
    await refused(tools, "propose_interval", INTERVAL, "it is archived")


@simulated
async def test_an_act_while_a_run_is_in_flight_writes_its_field_and_moves_nothing() -> None:
    bench = Bench()
    await bench.add()
    await bench.queue.claim_due(ClaimRequest("worker", 1, seconds(30)))
    before = bench.endpoint().next_run_at
    answer = await (await bench.toolbox()).call("propose_interval", INTERVAL)
    assert answer["in_flight"] is True
    assert bench.endpoint().next_run_at == before
    assert bench.endpoint().interval_hint is not None


# --- Limits of a session and of an hour ------------------------------------------------------


@simulated
@pytest.mark.parametrize(
    "tool", ["run_now", "", "GET_LATEST_RESPONSE", "get_latest_response ", "__init__"]
)
async def test_an_unknown_tool_is_refused_and_the_known_ones_are_told(tool: str) -> None:
    bench = await minute_after_noon()
    await refused(await bench.toolbox(), tool, {}, "tool", *sorted(EIGHT))


@simulated
@pytest.mark.parametrize("arguments", [None, [], "text", 5, True, [{"interval_ms": 30_000}]])
async def test_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    bench = await minute_after_noon()
    await refused(await bench.toolbox(), "propose_interval", arguments, "expected an object")


@simulated
@pytest.mark.parametrize("tool", sorted(EIGHT))
async def test_an_unknown_argument_is_named_and_ignored_by_every_tool(tool: str) -> None:
    bench = await minute_after_noon()
    resume = {"until_iso": None}
    examples = {"propose_interval": INTERVAL, "propose_next_time": NOW, "pause_until": resume}
    right = examples.get(tool, {})
    tools = await bench.toolbox()
    answer = await tools.call(tool, {**right, "force": True})
    assert answer["ok"], answer
    assert answer["ignored_arguments"] == ["force"]
    assert tools.calls[0].arguments == {**right, "force": True}
    plain = await (await bench.toolbox()).call(tool, right)
    assert "ignored_arguments" not in plain


@simulated
async def test_an_id_is_ignored_like_every_other_unknown_argument() -> None:
    bench = await minute_after_noon()
    await bench.add("sibling", baseline=OnDemand())
    ids = {"endpoint_id": str(bench.endpoint("sibling").id), "tenant_id": "x"}
    answer = await (await bench.toolbox()).call("propose_interval", {**INTERVAL, **ids})
    assert answer["endpoint"] == "probe"
    assert answer["ignored_arguments"] == ["endpoint_id", "tenant_id"]
    assert bench.endpoint("sibling").interval_hint is None


@simulated
async def test_of_many_ignored_arguments_some_are_named_and_shortly() -> None:
    many = {f"{number} {'x' * 1000}": 1 for number in range(500)}
    answer = await (await (await minute_after_noon()).toolbox()).call("clear_hints", many)
    assert len(json.dumps(answer)) < 1500


@simulated
async def test_a_wrong_name_in_a_job_of_hundreds_is_answered_shortly() -> None:
    bench = await minute_after_noon()
    for number in range(200):
        await bench.add(f"sibling {number:03}", baseline=OnDemand())
    answer = await (await bench.toolbox()).call("clear_hints", {"endpoint": "nobody"})
    assert "sibling 049, 150 more" in answer["error"]


@simulated
async def test_the_sixteenth_call_is_refused_and_the_analysis_can_still_be_submitted() -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    for number in range(15):
        known = number % 2 == 0
        answer = await tools.call("get_latest_response" if known else "no such tool", {})
        assert answer["ok"] is known
    assert not tools.out_of_calls
    for tool in sorted(EIGHT - {"submit_analysis"}):
        await refused(tools, tool, INTERVAL, "a session has 15 tool calls")
    assert tools.out_of_calls
    assert (await tools.call("submit_analysis", {"reasoning": "enough"}))["ok"]


@simulated
async def test_a_brain_that_never_stops_calling_fills_no_memory() -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    for number in range(1000):
        await tools.call("propose_next_time", {"next_run_in_ms": 1000 + number})
    assert len(tools.calls) <= 30
    assert sum(call.took_effect for call in tools.calls) == 15


class SlowStore(MemoryStore):
    """A store that takes its time, so that calls in one breath overlap."""

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        await asyncio.sleep(0.1)
        async with super().transaction() as tx:
            yield tx


@simulated
async def test_calls_in_one_breath_keep_to_the_limit_and_to_their_own_record() -> None:
    bench = await minute_after_noon()
    bench.store = SlowStore(bench.tables)
    tools = await bench.toolbox()
    acts = [
        tools.call("propose_interval", {"interval_ms": 60_000 + 1000 * number})
        if number % 2 == 0
        else tools.call("clear_hints", {"endpoint": "nobody"})
        for number in range(40)
    ]
    answers = await asyncio.gather(*acts)
    assert sum(answer["ok"] for answer in answers) == 8
    assert sum(call.took_effect for call in tools.calls) == 8
    for call in tools.calls:
        assert call.took_effect == call.result["ok"]
    assert sum("15 tool calls" in answer.get("error", "") for answer in answers) == 25


@simulated
async def test_thirty_changes_an_hour_and_renewing_is_none() -> None:
    bench = await minute_after_noon()
    for number in range(30):
        tools = await bench.toolbox()
        answer = await tools.call("propose_interval", {"interval_ms": 60_000 + number})
        assert answer["ok"]
        await bench.sleep(10)
    tools = await bench.toolbox()
    first_at = NOON + minutes(1)
    said = f"30 changes within an hour; the next from {iso(first_at + minutes(60))}"
    await refused(tools, "propose_interval", {"interval_ms": 90_000}, said)
    await refused(tools, "propose_next_time", NOW, said)
    await refused(tools, "clear_hints", {}, said)
    await refused(tools, "pause_until", {"until_iso": iso(NOON + minutes(30))}, said)
    renewed = await tools.call("propose_interval", {"interval_ms": 60_029, "ttl_minutes": 200})
    assert renewed["ok"]
    await bench.sleep(3600)
    assert (await tools.call("propose_interval", {"interval_ms": 90_000}))["ok"]


@simulated
async def test_every_call_is_recorded_as_it_came_cut_and_cleaned() -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    await tools.call("evil\x00\ud800" * 100, {"a\x00": ["\u202e" * 10, float("nan")]})
    (call,) = tools.calls
    assert isinstance(call, ToolCall)
    assert call.tool == ("evil" * 100)[:100]
    assert call.arguments == {"a": ["", "nan"]}
    json.dumps([call.tool, call.arguments, call.result], allow_nan=False).encode()
