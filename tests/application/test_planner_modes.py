"""What a planner may do: nothing, advise, or act; and how far back it reads."""

from typing import Any

from cadenza.application.discovery import LATE_COMMITS, Discovery, Round
from cadenza.application.ports.brain import Tools
from cadenza.application.suggestions import Suggestions
from cadenza.domain.access import Caller, Scope
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.endpoint import OnDemand
from cadenza.domain.rule import Mode, Modes
from tests.application.bench import Bench, Thinker, simulated
from tests.factories import CRON, NOON, id_of, minutes, seconds

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("propose_interval", {"interval_ms": 30_000, "reason": "load"}),
    ("propose_next_time", {"next_run_in_ms": 5_000, "endpoint": "sibling"}),
    ("pause_until", {"until_iso": "2026-03-02T13:00:00Z"}),
    ("clear_hints", {}),
)


async def _act(_: AnalysisContext, tools: Tools) -> None:
    for tool, arguments in CALLS:
        await tools.call(tool, arguments)


async def _ran(mode: Mode) -> Bench:
    bench = Bench()
    await bench.endpoints.set_tenant_modes(id_of("tenant"), Modes(mode, mode, mode))
    await bench.add(baseline=OnDemand())
    await bench.add("sibling", baseline=OnDemand())
    await bench.ran()
    return bench


@simulated
async def test_a_planner_that_is_off_does_not_look() -> None:
    bench = await _ran(Mode.OFF)
    brain = Thinker(_act)
    assert await bench.planner(brain).run_once() == Round()
    assert brain.looks == []


@simulated
async def test_a_planner_that_advises_writes_nothing_and_keeps_what_it_would_have_done() -> None:
    bench = await _ran(Mode.ADVISE)
    before = (bench.endpoint(), bench.endpoint("sibling"))
    assert await bench.planner(Thinker(_act)).run_once() == Round(sessions=1, suggested=1)
    assert (bench.endpoint(), bench.endpoint("sibling")) == before
    (session,) = bench.sessions
    assert [(call.suggested, call.took_effect) for call in session.tool_calls] == [
        (True, False),
        (True, False),
        (True, False),
        (False, False),  # there is nothing to clear
    ]
    would = session.tool_calls[0].result
    assert (would["source"], would["suggested_only"]) == ("ai-interval", True)
    assert len(bench.events("planner.suggested")) == 3
    assert bench.events("planner.acted") == []


@simulated
async def test_the_same_advice_at_every_look_is_one_suggestion() -> None:
    async def faster(_: AnalysisContext, tools: Tools) -> None:
        await tools.call(*CALLS[0])

    bench = await _ran(Mode.ADVISE)
    planner = bench.planner(Thinker(faster))
    await planner.run_once()
    await bench.ran()
    assert await planner.run_once() == Round(sessions=1)
    assert len(bench.sessions) == 1
    await bench.sleep(3601)  # by now the first is past its time
    await bench.ran()
    assert (await planner.run_once()).suggested == 1


@simulated
async def test_the_same_advice_twice_in_one_session_is_one_suggestion() -> None:
    """A model that called a tool 15 times, a millisecond apart, made a list of 15 suggestions."""

    async def ever_again(_: AnalysisContext, tools: Tools) -> None:
        for number in range(10):
            await tools.call("propose_interval", {"interval_ms": 30_000 + number, "reason": "load"})
        await tools.call("propose_interval", {"interval_ms": 5_000, "reason": "load"})

    bench = await _ran(Mode.ADVISE)
    await bench.planner(Thinker(ever_again)).run_once()
    (session,) = bench.sessions
    suggested = [call.arguments["interval_ms"] for call in session.tool_calls if call.suggested]
    assert suggested == [30_000, 5_000]


@simulated
async def test_an_accepted_suggestion_does_what_the_planner_would_have_done() -> None:
    bench = await _ran(Mode.ADVISE)
    await bench.planner(Thinker(_act)).run_once()
    (session,) = bench.sessions
    suggestions = Suggestions(
        bench.store, bench.memory.suggestions, bench.analysis_queue, bench.clock, CRON
    )
    ann = Caller(session.tenant_id, id_of("ann"), id_of("key"), "ann", (Scope.OPERATE,))
    call, answer = await suggestions.accept(ann, session.id, 0)
    assert call == 0
    assert (answer["ok"], answer["source"]) == (True, "ai-interval")
    hint = bench.endpoint().interval_hint
    assert hint is not None
    assert (hint.interval, hint.session_id, hint.reason) == (seconds(30), session.id, "load")
    await suggestions.accept(ann, session.id, 1)
    assert bench.endpoint("sibling").one_shot_hint is not None


def test_a_planner_reads_everything_first_and_once_a_cycle() -> None:
    discovery = Discovery(minutes(5))
    assert discovery.since(NOON) is None
    discovery.claimed(NOON, 3, limit=10)
    assert discovery.since(NOON + minutes(1)) == NOON - LATE_COMMITS
    discovery.claimed(NOON + minutes(1), 0, limit=10)
    assert discovery.since(NOON + minutes(4)) == NOON + minutes(1) - LATE_COMMITS
    discovery.claimed(NOON + minutes(4), 0, limit=10)
    assert discovery.since(NOON + minutes(5)) is None


def test_what_was_not_taken_is_not_forgotten() -> None:
    discovery = Discovery(minutes(5))
    discovery.since(NOON)
    discovery.claimed(NOON, 10, limit=10)
    assert discovery.has_more
    assert discovery.since(NOON + seconds(1)) is None
    discovery.claimed(NOON + seconds(1), 2, limit=10)
    assert not discovery.has_more
    discovery.since(NOON + seconds(9))
    discovery.claimed(NOON + seconds(9), 10, limit=10)
    assert discovery.since(NOON + seconds(10)) == NOON + seconds(1) - LATE_COMMITS
    discovery.start_over()
    assert discovery.since(NOON + seconds(11)) is None
