"""How often a model is asked, in the worst of lives: a look has a reason, and each is bounded.

The provider is a real one on a local port; hours pass between its answers, on a clock of our own.
"""

from collections import Counter
from datetime import timedelta
from itertools import count, pairwise

from cadenza.domain.endpoint import OnDemand
from cadenza.domain.session import SessionEnd
from tests.adapters.brains.llm.provider import Answer, Asked, Model, script
from tests.adapters.brains.llm.support import SUBMITS, Scene, scene
from tests.factories import FAILED, OK, id_of, minutes

NAMES = ("probe", "second", "third")
SIBLINGS = {"probe": "second", "second": "third", "third": "probe"}


async def three(at: Scene) -> None:
    for name in NAMES[1:]:
        await at.bench.add(name, baseline=OnDemand())


async def live(at: Scene, length: timedelta, fails: bool = False) -> Counter[str]:
    """All three answer anew about every ten seconds; sessions by endpoint."""
    bench, ends_at, known = at.bench, at.bench.now + length, len(at.bench.sessions)
    for number in count():
        if bench.now >= ends_at:
            break
        for name in NAMES:
            outcome = FAILED if fails and number % 2 else OK
            await bench.ran(name, body={"number": number}, outcome=outcome)
        await at.planner.run_once()
        bench.clock.step(timedelta(seconds=7))
    names = {id_of(name): name for name in NAMES}
    return Counter(names[session.endpoint_id] for session in bench.sessions[known:])


def submits(in_ms: int) -> Answer:
    return Answer([("submit_analysis", {"reasoning": "calm", "next_analysis_in_ms": in_ms})])


async def test_what_a_model_asked_for_stands_while_its_siblings_answer_anew() -> None:
    async with scene(script(submits(4 * 3_600_000))) as at:
        await three(at)
        first = await live(at, timedelta(hours=1))
        assert first == dict.fromkeys(NAMES, 1)  # each was never analysed before
        assert await live(at, timedelta(hours=2, minutes=50)) == {}
        assert await live(at, minutes(20)) == dict.fromkeys(NAMES, 1)  # as it asked


def obeys(asked: Asked) -> Answer:
    """A new interval for the sibling in every session: each is news for the others."""
    steering = [
        ("propose_interval", {"interval_ms": 20_000 + asked.number, "endpoint": name})
        for name in NAMES
    ]
    return Answer([*steering, *submits(300_000).calls])


async def test_a_model_that_obeys_everything_keeps_to_the_gap() -> None:
    """Twelve looks an hour at most, and one more for the first."""
    async with scene(obeys) as at:
        await three(at)
        sessions = await live(at, timedelta(hours=2))
        assert all(20 <= sessions[name] <= 25 for name in NAMES), sessions


async def test_endpoints_that_flap_are_looked_at_once_a_minute_at_most() -> None:
    async with scene(obeys, quota=None) as at:
        await three(at)
        sessions = await live(at, minutes(30), fails=True)
        assert all(25 <= sessions[name] <= 31 for name in NAMES), sessions


async def a_day_of(model: Model, at: Scene) -> list[float]:
    """The minutes at which sessions were held, of an endpoint that runs every minute."""
    at.provider.model, began = model, at.bench.now
    known = len(at.bench.sessions)
    while at.bench.now < began + timedelta(days=1):
        await at.bench.ran()
        await at.planner.run_once()
        at.bench.clock.step(timedelta(seconds=59))
    return [(each.started_at - began) / minutes(1) for each in at.bench.sessions[known:]]


async def test_a_model_that_writes_plain_text_backs_off_until_it_does_what_it_should() -> None:
    async with scene(script(SUBMITS)) as at:
        held = await a_day_of(script(Answer(text="All is well, I think.")), at)
        assert len(held) == 9  # after 5, 10, 20 … minutes
        gaps = [round(later - sooner) for sooner, later in pairwise(held)]
        assert gaps == [5, 10, 20, 40, 80, 160, 320, 640]
        assert {each.end for each in at.bench.sessions} == {SessionEnd.FAILED}
        (state,) = await at.bench.memory.records.analyses_of(id_of("tenant"), id_of("probe"))
        assert (state.failed_looks, state.trouble) == (
            9,
            "the model answered with text instead of tools",
        )
        await at.bench.endpoints.ask_for_analysis(at.bench.endpoint())
        at.provider.model = script(SUBMITS)
        await at.planner.run_once()
        (state,) = await at.bench.memory.records.analyses_of(id_of("tenant"), id_of("probe"))
        assert (state.failed_looks, state.trouble) == (0, "")
        told = [event.kind for event in at.bench.tables.events[id_of("tenant")]]
        assert (told.count("session.failed"), told.count("session.ended")) == (9, 1)


async def test_what_is_told_of_a_session_says_why_it_was_held_and_what_it_cost() -> None:
    async with scene(script(SUBMITS)) as at:
        session = await at.session()
        (event,) = [
            event
            for event in at.bench.tables.events[id_of("tenant")]
            if event.kind == "session.ended"
        ]
        assert event.data == {
            "session_id": str(session.id),
            "brain": session.brain,
            "look": "never-analysed",
            "prompt_version": session.prompt_version,
            "tokens": 1050,
            "input_tokens": session.usage.input_tokens,
            "cached_tokens": 0,
            "output_tokens": session.usage.output_tokens,
            "cost": session.cost,
        }


async def test_a_model_that_loops_is_bounded_by_calls_and_by_tokens() -> None:
    reads = Answer([("get_response_history", {})], tokens=(2000, 200))
    async with scene(script(reads)) as at:
        session = await at.session()
        assert (session.end, len(session.tool_calls)) == (SessionEnd.OUT_OF_CALLS, 15)
        assert session.tokens == 15 * 2200
    hungry = Answer([("get_response_history", {})], tokens=(9000, 200))
    async with scene(script(hungry)) as at:
        session = await at.session()
        assert session.end is SessionEnd.FAILED
        assert "token limit" in session.trouble
        assert session.tokens <= 50_000
