"""Answers of the right protocol with something odd in them: whatever it is, a session ends well."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, cast

import pytest

from cadenza.adapters.brains.llm.options import Provider as Kind
from cadenza.adapters.simulated.chance import SeededChance
from cadenza.domain.endpoint import OnDemand
from cadenza.domain.session import SessionEnd
from tests.adapters.brains.llm.provider import Answer, Asked, Raw, script
from tests.adapters.brains.llm.streams import on_the_wire
from tests.adapters.brains.llm.support import (
    FASTER,
    KEY,
    PROTOCOLS,
    SUBMIT,
    SUBMITS,
    both_modes,
    every_kind,
    scene,
)

ODD: list[Any] = [
    None, True, -1, 0, 1e308, 10**30, "", "x" * 5000, "\u0000\u202e", "\ud800", [], {}, [[]],
    [None], {"": None}, "propose_interval", {"type": "tool_use"}, ["a", 1, None], "2026-01-01",
]  # fmt: skip


def places_in(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if here:
        yield here
    if isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield from places_in(item, (*here, key))
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[Any]", value)):
            yield from places_in(item, (*here, number))


def changed(value: Any, path: tuple[Any, ...], to: Any) -> Any:
    fresh = deepcopy(value)
    inner = fresh
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return fresh


def _good(kind: Kind, stream: bool) -> Any:
    answer = Answer([FASTER, ("get_latest_response", {})], text="hm")
    if stream:
        return [list(event) for event in PROTOCOLS[kind].events(answer)]
    return PROTOCOLS[kind].whole(answer)


def _sent(answer: Any, stream: bool) -> Raw:
    if stream:
        body = b"".join(on_the_wire((name, data)) for name, data in answer)
        return Raw(body=body, content_type="text/event-stream")
    return Raw(body=json.dumps(answer).encode())


@pytest.mark.filterwarnings("ignore")  # of the libraries, about what a provider left out
@pytest.mark.parametrize("kind", [Kind.OPENAI, Kind.ANTHROPIC, Kind.GOOGLE])
@both_modes
async def test_an_answer_with_anything_odd_anywhere_in_it_ends_in_a_stored_session(
    kind: Kind, stream: bool
) -> None:
    good = _good(kind, stream)
    places = [path for path in places_in(good) if not stream or len(path) > 1]
    rounds, chance = 1 if stream else 3, SeededChance(7)
    drawn = [
        int(chance.between(0, len(ODD), "odd", number)) for number in range(rounds * len(places))
    ]
    odd = iter([changed(good, places[n % len(places)], ODD[part]) for n, part in enumerate(drawn)])
    state: dict[str, Any] = {"odd": None, "turn": 0}

    def model(_: Asked) -> Any:
        """First the odd answer, then one that would end the session."""
        state["turn"] += 1
        return _sent(state["odd"], stream) if state["turn"] == 1 else SUBMITS

    async with scene(model, kind, quota=None, stream=stream) as at:
        first = True
        for state["odd"] in odd:
            state["turn"] = 0
            session = await at.session() if first else await at.again()
            first = False
            ended_well = session.end is SessionEnd.SUBMITTED
            assert ended_well or session.warnings, state["odd"]
            assert KEY not in at.stored
        at.provider.model = script(SUBMITS)
        assert (await at.again()).warnings == ()
        assert all(session.tokens >= 0 for session in at.bench.sessions)


@every_kind
@both_modes
async def test_sessions_at_the_same_time_do_not_mix(kind: Kind, stream: bool) -> None:
    def model(asked: Asked) -> Answer:
        names = (f"probe {n}" for n in range(12) if f"probe {n}." in asked.text)
        name = next(names, "probe")
        return Answer([("submit_analysis", {**SUBMIT[1], "reasoning": name})])

    async with scene(model, kind, stream=stream) as at:
        for number in range(12):
            job = {"job_id": at.bench.chance.id_of(f"job {number}"), "baseline": OnDemand()}
            await at.bench.add(f"probe {number}.", **job)
            await at.bench.ran(f"probe {number}.")
        held = [await at.planner.run_once(), await at.planner.run_once()]
        assert [ended.sessions for ended in held] == [8, 5]
        by_id = {at.bench.endpoint(f"probe {n}.").id: f"probe {n}" for n in range(12)}
        by_id[at.bench.endpoint().id] = "probe"
        for session in at.bench.sessions:
            assert session.reasoning == by_id[session.endpoint_id]
