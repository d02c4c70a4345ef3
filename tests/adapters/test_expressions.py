"""CEL: what it says of values, where it cannot be read, and that reading takes bounded work."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.adapters.expressions.cel import MAX_LENGTH, CelExpressions, run
from cadenza.application.expressions import yes_or_no
from cadenza.domain.errors import InvalidInput
from tests.effort import at_most

CEL = CelExpressions()

ANSWER: dict[str, Any] = {
    "status": 200,
    "body": {
        "ok": True,
        "count": 3,
        "ratio": 0.5,
        "state": "up",
        "nothing": None,
        "big": 10**30,
        "items": [{"price": 1, "tags": ["a", "b"]}, {"price": 2, "tags": []}],
        "limit": 5,
        "with-dash": 1,
    },
}


def holds(expression: str, values: Mapping[str, Any]) -> bool:
    return yes_or_no(expression, run(expression, values))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("status == 200", True),
        ("status in [201, 202]", False),
        ("status >= 200 && status < 300", True),
        ("body.ok", True),
        ("!body.ok", False),
        ("body.count > 2 && body.ratio <= 0.5", True),
        ("body.count > 2.5", True),
        ("body.state == 'up' || body.state == 'degraded'", True),
        ("body.nothing == null", True),
        ("has(body.missing)", False),
        ("has(body.missing) && body.missing > 1", False),
        ("body.big > 1", True),
        ("size(body.items) == 2", True),
        ("body.items.all(x, x.price <= body.limit)", True),
        ("body.items.exists(x, 'b' in x.tags)", True),
        ("body.items.exists_one(x, x.price == 2)", True),
        ("body.items.filter(x, x.price > 1).size() == 1", True),
        ("body.items.map(x, x.price) == [1, 2]", True),
        ("body.items.all(x, x.tags.all(t, t.size() <= body.limit))", True),
        ("body['with-dash'] == 1", True),
        ("body.state.matches('^u[a-z]$')", True),
        ("'2026-03-02'.matches('^\\\\d{4}-\\\\d{2}-\\\\d{2}$')", True),
        ("'2026-03-02'.matches(r'^\\d{4}-\\d{2}-\\d{2}$')", True),
        ("body.state.startsWith('u') ? true : false", True),
        ("type(body) == map", True),
        ("string(status) == '200' // why not", True),
        ("status ==\n  200", True),
        ('\'a\\\'b\' != """c"d"""', True),
    ],
)
def test_it_says_yes_or_no(expression: str, expected: bool) -> None:
    CEL.check("success_when", expression, names=("status", "body"))
    assert holds(expression, ANSWER) is expected


@pytest.mark.parametrize("body", [None, "text", 7, 1.5, True, [], [1, 2], {}, "x" * 65536])
def test_a_body_of_any_kind_may_be_asked_about(body: Any) -> None:
    assert holds("status == 200 && (body == null || true)", {"status": 200, "body": body})


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("body.missing == 1", "missing"),
        ("body.items[7].price == 1", "out of bounds"),
        ("body.state > 1", "overload"),
        ("1 / 0 == 1", "zero"),
        ("unknown == 1", "unknown"),
        ("nonsense(1)", "nonsense"),
        ("body.items.all(x)", "x"),
        ("body.count", "int"),
        ("body.items", "list"),
        ("'true'", "str"),
        ("null", "NoneType"),
        ("body.state.matches('(')", "is no pattern"),
        ("body.count.matches('1')", "takes a text"),
    ],
)
def test_what_has_no_yes_or_no_is_told_with_the_reason(expression: str, message: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        holds(expression, ANSWER)
    assert message in raised.value.fix
    assert len(raised.value.fix) < 300


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("status ==", "column 10"),
        ("status == 200 &&\n  body. == 1", "line 2, column 9"),
        ("status == 'abc", "column 11"),
        ("((status == 1)", "column 15"),
        ("status = 200", "column 8"),
        ("x" * (MAX_LENGTH + 1), "longer than"),
        ("status == 200\0", "cannot be seen"),
        ("status == 200\u202e", "cannot be seen"),
        ("(" * 60 + "true" + ")" * 60, ""),
        ("[1].all(a, [1].all(b, [1].all(c, true)))", "nested"),
        ("[1].all(a, [[1].map(b, [1].exists(c, true))][0])", "nested"),
        ("body.state.matches(body.pattern)", "written out"),
        ("body.state.matches('a' + 'b')", "written out"),
        ("'x'.matches('" + "a" * 300 + "')", "longer than"),
        ("'x'.matches('\\x5cw{200}')", "plain"),
        ("'x'.matches('\\134w{200}')", "plain"),
        ("body.items.map(x, __result__ + __result__) == []", "__result__"),
        ("[1].all(int, int == 1)", "int"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_place_or_the_reason(
    expression: str, message: str
) -> None:
    with pytest.raises(InvalidInput) as held:
        holds(expression, ANSWER)
    with pytest.raises(InvalidInput) as checked:
        CEL.check("success_when", expression)
    assert checked.value.field == "success_when"
    for raised in (held, checked):
        assert message in raised.value.fix
        assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("foo(status)", "at column 1: there is no foo(), only: bytes, contains"),
        ("status == 1 &&\n  body.state.lowerAscii() == 'up'", "at line 2, column 14: there is no"),
        ("max(status, 1) > 1", "no max()"),
        ("body.state.matches('(')", "'(' is no pattern: missing )"),
        ("body.items.all(x, x.matches(r'[z-a]'))", "is no pattern: invalid character class range"),
        ("body.state.matches(r'\\pL{500}')", "pattern too large"),
        ("body.state.matches('.{900}')", "too large a pattern"),
        ("body.state.matcheS('a')", "matches() is the one"),
        ("&&".join(["body.state.matches('a')"] * 9), "more than 8 patterns"),
        ("1 / 0 > 1", "ivision by zero"),
        ("9223372036854775807 + 1 > 0", "verflow"),
        ("'a' + 1 == 'a1'", ""),
        ("'yes'", "it gives a str, not yes or no"),
        ("1 + 1", "it gives a int, not yes or no"),
        ("timestamp('nope') > timestamp('2026-01-01T00:00:00Z')", ""),
        ("(" * 150 + "true" + ")" * 150, "column 97: Recursion limit of 96 exceeded"),
    ],
)
def test_what_could_never_say_yes_or_no_is_refused_at_the_door(
    expression: str, message: str
) -> None:
    with pytest.raises(InvalidInput) as raised:
        CEL.check("rules[0].when", expression, ("status", "body"))
    assert raised.value.field == "rules[0].when"
    assert message in raised.value.fix
    assert "OtherError" not in raised.value.fix


@pytest.mark.parametrize(
    "expression",
    [
        "true",
        "size(body.items) > 1 && body.items.size() > 1 && string(status).startsWith('2')",
        "body.state.matches(r'^(up|down)$') || body.state.endsWith('p') && int('1') in [1, 2]",
        "timestamp(body.at).getHours() > 3 && duration('1h').getMinutes() == 60",
        "body.items.filter(x, has(x.price)).map(x, double(x.price)).exists(p, p > 1.0)",
        "type(body) == map && !(status != 200) && -status < 0 && status % 2 == 0 ? true : false",
        "body.items.exists_one(x, x.price == uint(1)) && dyn(status) == 200 && b'a' == bytes('a')",
    ],
)
def test_what_cel_has_is_let_in(expression: str) -> None:
    CEL.check("success_when", expression, ("status", "body"))


def test_an_instant_may_be_one_and_need_be_no_yes_or_no() -> None:
    CEL.check("run_at", "timestamp('2026-01-01T00:00:00Z')", yes_or_no_wanted=False)
    with pytest.raises(InvalidInput):
        CEL.check("run_at", "timestamp('soon')", yes_or_no_wanted=False)


def test_a_name_that_nobody_knows_is_refused_at_the_door() -> None:
    CEL.check("when", "[1].all(x, x == status)", names=("status",))
    with pytest.raises(InvalidInput, match="bodi") as raised:
        CEL.check("when", "bodi.ok && status == 200", names=("status", "body"))
    assert raised.value.field == "when"
    assert "body, status" in raised.value.fix


@pytest.mark.parametrize(
    "expression",
    [
        "body.all(x, x.matches('a{ 900 }{ 7 }'))",
        " && ".join([r"body.matches(r'(\w{30}){30}')"] * 8),
        " && ".join([r"body.matches(r'[\pL\pN]{999}')"] * 8),
        "[" + "0," * 200 + "0].all(x, [" + "0," * 200 + "0].all(y, x == y))",
        "[1]" + ".map(x,[x,x])" * 40 + ".size() > 0",
        "a?b:" * 240 + "c",
        "(" * 24 + "body" + ")" * 24,
        "!" * 990 + "body",
        "body." * 190 + "a",
        "[" * 24 + "body" + "]" * 24,
        "body" + "[body" * 20 + "]" * 20,
    ],
)
def test_reading_takes_little_whatever_is_written(expression: str) -> None:
    """It is read where others wait; a job may have a hundred."""
    with at_most(0.1), suppress(InvalidInput):  # 3 ms here, compilation of patterns included
        CEL.check("when", expression)


@settings(max_examples=400, derandomize=True, deadline=None, database=None)
@given(
    st.lists(
        st.sampled_from(
            ["body", "status", ".", "items", "(", ")", "[", "]", "{", "}", ",", "+", "==", "&&",
             ".all(x,", ".map(x,", "x", "'a'", '"""', "r'\\'", "1", "1.5", "?", ":", "in", "!",
             "matches", "'(a*)*'", "-", "true", "//", "\n", "__x", ".filter(y,", "size(", "\\"]
        ),
        max_size=30,
    )
)  # fmt: skip
def test_whatever_is_written_is_yes_no_or_refused(parts: list[str]) -> None:
    expression = "".join(parts)
    with suppress(InvalidInput):
        assert isinstance(holds(expression, ANSWER), bool)
