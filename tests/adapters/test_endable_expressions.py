"""Expressions that run where they can be ended: a real process, real expressions that cost."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.adapters.expressions.pool import EndableExpressions, Limits, endable_expressions
from cadenza.application.ports.expressions import Owner, Question
from cadenza.domain.errors import InvalidInput, NothingThere

PATIENCE = 120.0  # seconds, of a busy machine; they take about one
NUMBERS = list(range(12_000))
RECORDS = [{"a": 1, "b": {"c": [1, 2, {"d": 4}]}, "s": "hello there"} for _ in range(700)]
BODIES: dict[str, Any] = {
    "numbers": {"items": NUMBERS, "text": "x" * 2000},
    "records": {"items": RECORDS, "text": "ab"},
    "text": {"items": ["a" * 3000] * 10, "text": "ab" * 15_000},
    "deep": {"items": [[[[[[1]]]]]] * 2000, "text": ""},
}
COSTLY = [
    "body.items.map(x, x).size() > 0",
    "body.items.map(x, body).size() > 0",
    "body.items.all(x, body.items.all(y, x == y || true))",
    "body.items.all(x, x in body.items)",
    "body.items.all(x, body == body)",
    "body.items.all(x, string(x).matches('^.*[a-z]+.*$') || true)",
    "body.items.all(x, string(x).matches('a{ 900 }{ 7 }') || true)",
    "body.text.matches('(a|b)*a(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)c')",
    "body.text.matches('(a[ab]{99}){9}c')",
    r"body.text.matches('(\\w{50}){5}') || body.text.matches(r'\W\W\W\W\W\W\W\W\W\W\W\W\W\W\W\W')",
    "[body].map(x,[x,x,x,x,x,x]).map(x,[x,x,x,x,x,x]).map(x,[x,x,x,x,x,x]).size() > 0",
    "[1]" + ".map(x,[x,x])" * 40 + ".size() > 0",
    "['" + "a" * 100 + "']" + ".map(x,x+x)" * 40 + ".size() > 0",
    "[" + ",".join(["body"] * 150) + "].all(x, x == body)",
    "(" + "+".join(["body.items"] * 80) + ").size() > 0",
    "body.items.map(x, body.items.map(y, [x, y])).size() > 0",
]
ENDLESS = "body.all(x, body.all(y, x == y || true))"
RICH = Limits(per_job=(1000, 0.01), per_tenant=(1000, 0.01))
YES = Question("status == 200", {"status": 200})


def owner(number: int) -> Owner:
    return Owner(UUID(int=number), UUID(int=number))


OURS, THEIRS = owner(1), owner(2)


@pytest.fixture
async def expressions() -> AsyncIterator[EndableExpressions]:
    async with endable_expressions() as expressions:
        yield expressions


@asynccontextmanager
async def with_limits(**limits: Any) -> AsyncIterator[EndableExpressions]:
    async with endable_expressions(Limits(**limits)) as expressions:
        yield expressions


async def ask(expressions: EndableExpressions, whose: Owner, *questions: Question) -> list[Any]:
    async with asyncio.timeout(120):  # far more than they may take
        return await expressions.evaluate(whose, questions)


def endless(count: int = 1) -> Sequence[Question]:
    """Each another, for one that was ended is not tried again."""
    return [
        Question(f"{ENDLESS} && {uuid4().int >> 66} > 0", {"body": NUMBERS}) for _ in range(count)
    ]


async def test_it_gives_what_the_expression_gives(expressions: EndableExpressions) -> None:
    asked = {
        "status == 200": True,
        "body.state": "up",
        "body.count + 1": 4,
        "body.nothing": None,
        "body.list": [],
    }
    body = {"state": "up", "count": 3, "nothing": None, "list": [1]}
    questions = [Question(each, {"status": 200, "body": body}) for each in asked]
    assert await ask(expressions, OURS, *questions) == list(asked.values())


async def test_an_instant_is_one(expressions: EndableExpressions) -> None:
    question = Question("timestamp(body)", {"body": "2026-01-31T12:00:00Z"})
    (instant,) = await ask(expressions, OURS, question)
    assert instant.isoformat() == "2026-01-31T12:00:00+00:00"


async def test_what_gives_nothing_says_why(expressions: EndableExpressions) -> None:
    missing, wrong, unread = await ask(
        expressions,
        OURS,
        Question("body.a == 1", {"body": {}}),
        Question("1 / body == 1", {"body": 0}),
        Question("body ==", {"body": 0}),
    )
    assert isinstance(missing, NothingThere)
    assert "zero" in wrong.fix
    assert "column" in unread.fix


@pytest.mark.parametrize("kind", BODIES)
async def test_no_expression_goes_on_for_ever(kind: str) -> None:
    async with endable_expressions(RICH) as expressions:
        questions = [Question(each, {"body": BODIES[kind]}) for each in COSTLY]
        async with asyncio.timeout(PATIENCE):  # without the end of each it takes hours
            for result in await ask(expressions, OURS, *questions):
                assert isinstance(result, bool | InvalidInput)


async def test_one_that_was_ended_says_so_and_rests(expressions: EndableExpressions) -> None:
    (question,) = endless()
    (first,) = await ask(expressions, OURS, question)
    assert "more than 50 ms of processor time" in first.fix
    again, other = await ask(expressions, OURS, question, YES)
    assert (again.fix, other) == (first.fix, True)
    assert await ask(expressions, THEIRS, YES) == [True]


async def test_one_that_rests_costs_its_job_nothing() -> None:
    async with with_limits(per_job=(0.2, 0.001)) as expressions:
        (question,) = endless()
        for _ in range(10):
            (result,) = await ask(expressions, OURS, question)
            assert "more than 50 ms of processor time" in result.fix
        assert await ask(expressions, OURS, YES) == [True]


async def test_a_tenant_with_costly_expressions_takes_no_turn_of_another() -> None:
    async with endable_expressions(RICH) as expressions:
        costly = asyncio.create_task(ask(expressions, OURS, *endless(40)))
        answered = 0
        await ask(expressions, THEIRS, YES)
        while not costly.done():
            assert await ask(expressions, THEIRS, YES) == [True]
            answered += 1
        assert answered >= 20  # one after each that was ended, or two


async def test_a_job_has_a_total_for_what_is_costly() -> None:
    async with with_limits(per_job=(0.2, 0.001), per_tenant=(1000, 1)) as expressions:
        fixes = [result.fix for each in endless(8) for result in await ask(expressions, OURS, each)]
        assert sum("used up their processor time" in fix for fix in fixes) >= 3
        other = Owner(OURS.tenant_id, THEIRS.job_id)
        assert await ask(expressions, other, YES) == [True]


async def test_a_tenant_has_a_total_over_its_jobs() -> None:
    async with with_limits(per_tenant=(0.2, 0.001)) as expressions:
        fixes = [
            (await ask(expressions, Owner(OURS.tenant_id, uuid4()), each))[0].fix
            for each in endless(8)
        ]
        assert sum("used up their processor time" in fix for fix in fixes) >= 3
        assert await ask(expressions, THEIRS, YES) == [True]


async def test_what_costs_little_is_never_refused() -> None:
    async with with_limits(per_job=(0.01, 0.001), per_tenant=(0.01, 0.001)) as expressions:
        assert await ask(expressions, OURS, *[YES] * 2000) == [True] * 2000


async def test_a_lost_process_is_replaced(expressions: EndableExpressions) -> None:
    assert await ask(expressions, OURS, YES) == [True]
    assert expressions._process is not None
    expressions._process.popen.kill()
    expressions._process.writer.transport.abort()
    (lost,) = await ask(expressions, OURS, YES)
    assert "its process was lost" in lost.fix
    assert await ask(expressions, OURS, YES) == [True]


async def test_a_silent_process_is_replaced() -> None:
    async with with_limits(silence=0.2, seconds=60) as expressions:
        (silent,) = await ask(expressions, OURS, *endless())
        assert "its process was lost" in silent.fix
