"""CEL: what it says of values, where it cannot be read, and that it never takes long."""

from contextlib import suppress
from resource import RUSAGE_SELF, getrusage
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.adapters.expressions import cost
from cadenza.adapters.expressions.cel import MAX_LENGTH, CelExpressions
from cadenza.adapters.expressions.shape import shape_of
from cadenza.domain.errors import InvalidInput

CEL = CelExpressions()
AT_MOST = 0.5  # seconds; the estimate aims at a tenth of it, on a machine with nothing else to do

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
    assert CEL.holds(expression, ANSWER) is expected


@pytest.mark.parametrize("body", [None, "text", 7, 1.5, True, [], [1, 2], {}, "x" * 65536])
def test_a_body_of_any_kind_may_be_asked_about(body: Any) -> None:
    assert CEL.holds("status == 200 && (body == null || true)", {"status": 200, "body": body})


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
        ("body.state.matches('(')", "regex"),
    ],
)
def test_what_has_no_yes_or_no_is_told_with_the_reason(expression: str, message: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        CEL.holds(expression, ANSWER)
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
        CEL.holds(expression, ANSWER)
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
        ("body.state.matches('(')", "'(' is no pattern: unclosed group"),
        ("body.items.all(x, x.matches(r'[z-a]'))", "is no pattern: invalid character class range"),
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
    CEL.check("run_at", "timestamp('2026-01-01T00:00:00Z')", yes_or_no=False)
    with pytest.raises(InvalidInput):
        CEL.check("run_at", "timestamp('soon')", yes_or_no=False)


def test_a_name_that_nobody_knows_is_refused_at_the_door() -> None:
    CEL.check("when", "[1].all(x, x == status)", names=("status",))
    with pytest.raises(InvalidInput, match="bodi") as raised:
        CEL.check("when", "bodi.ok && status == 200", names=("status", "body"))
    assert raised.value.field == "when"
    assert "body, status" in raised.value.fix


# --- Time and memory ------------------------------------------------------------------------

NUMBERS = list(range(12_000))
RECORDS = [{"a": 1, "b": {"c": [1, 2, {"d": 4}]}, "s": "hello there"} for _ in range(700)]
BODIES: dict[str, Any] = {
    "numbers": {"items": NUMBERS, "text": "x" * 2000},
    "records": {"items": RECORDS, "text": "ab"},
    "text": {"items": ["a" * 3000] * 10, "text": "ab" * 15_000},
    "few": {"items": [1, 2, 3], "text": "hello"},
    "deep": {"items": [[[[[[1]]]]]] * 2000, "text": ""},
}
COSTLY = [
    "body.items.map(x, x).size() > 0",
    "body.items.filter(x, true).size() > 0",
    "body.items.map(x, body).size() > 0",
    "body.items.map(x, body.text + body.text).size() > 0",
    "body.items.all(x, body.items.all(y, x == y || true))",
    "body.items.all(x, body.items.exists(y, y == x))",
    "body.items.all(x, x in body.items)",
    "body.items.all(x, body.items[0] == x || true)",
    "body.items.all(x, body == body)",
    "body.items.all(x, .body.items == .body.items)",
    "body.items.all(x, string(x).matches('^.*[a-z]+.*$') || true)",
    "body.text.matches('(a|b)*a(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)c')",
    "body.text.matches('(a[ab]{99}){9}c')",
    "body.text.matches('((a{0,90}){0,90}){0,90}c')",
    "body.items.all(x, string(x).matches(r'\\w{200}') || true)",
    r"body.text.matches('(\\w{50}){5}') || body.text.matches(r'\W\W\W\W\W\W\W\W\W\W\W\W\W\W\W\W')",
    "[body].map(x,[x,x,x,x,x,x]).map(x,[x,x,x,x,x,x]).map(x,[x,x,x,x,x,x]).size() > 0",
    "[1]" + ".map(x,[x,x])" * 40 + ".size() > 0",
    "['" + "a" * 100 + "']" + ".map(x,x+x)" * 40 + ".size() > 0",
    "[body].map(x,[x.text,x.text].map(y,y+y+y+y+y+y)).size() > 0",
    "[" + ",".join(["body"] * 150) + "].all(x, x == body)",
    "[" + "0," * 200 + "0].all(x, [" + "0," * 200 + "0].all(y, x == y))",
    "[" + "0," * 150 + "0].map(x, [" + "0," * 150 + "0].map(y, body.text)).size() > 0",
    "(" + "+".join(["body.text"] * 90) + ").size() > 0",
    "(" + "+".join(["body.items"] * 80) + ").size() > 0",
    " && ".join(["body == body"] * 60),
    "body.items.map(x, body.items.map(y, [x, y])).size() > 0",
    "{'a': body, 'b': body}.map(k, body).map(k, [k, k, body]).size() > 0",
]


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("expression", COSTLY)
def test_no_expression_takes_long_or_much_memory(expression: str, kind: str) -> None:
    values = {"status": 200, "body": BODIES[kind]}
    begun = perf_counter()
    with suppress(InvalidInput):
        CEL.holds(expression, values)
    assert perf_counter() - begun < AT_MOST


def test_expressions_that_people_write_are_not_refused_for_their_cost() -> None:
    orders = [{"id": n, "state": "paid", "lines": [{"q": 1}, {"q": 2}]} for n in range(300)]
    values = {"status": 200, "body": {"orders": orders, "limit": 9, "page": "x" * 20_000}}
    for expression in (
        "body.orders.all(o, o.state == 'paid')",
        "body.orders.all(o, o.id < 1000 && o.state in ['paid', 'sent'] && o.lines.size() > 0)",
        "body.orders.all(o, o.lines.all(l, l.q <= 2))",
        "body.orders.exists(o, o.id == body.limit)",
        "size(body.orders) > 10 && body.limit > 3 && status == 200",
        "body.page.contains('xx') && body.page.matches('x+')",
    ):
        assert CEL.holds(expression, values) is True
    few = {"body": orders[:100]}
    assert CEL.holds("size(body.filter(o, o.state == 'paid')) == 100", few)


@given(
    st.recursive(
        st.integers() | st.booleans() | st.none() | st.text(max_size=300),
        lambda inner: st.dictionaries(st.sampled_from("abcd"), inner),
        max_leaves=30,
    )
)
def test_the_quick_estimate_is_never_below_the_exact_one(body: Any) -> None:
    for expression in ("body.a > 1", "body == body", "body.a.b + x.c == body.d", "[body, body.a]"):
        shape, values = shape_of(expression), {"body": body}
        exact = cost._Estimate(shape, values).cost(shape, times=1, elements=0)
        assert cost.cost_of(shape, values) >= exact


def test_memory_stays_bounded_whatever_is_written() -> None:
    """The library's own memory is not Python's: the most that this process ever held tells."""
    before = getrusage(RUSAGE_SELF).ru_maxrss
    for expression in COSTLY:
        for body in BODIES.values():
            with suppress(InvalidInput):
                CEL.holds(expression, {"status": 200, "body": body})
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # KiB


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
        assert isinstance(CEL.holds(expression, ANSWER), bool)
