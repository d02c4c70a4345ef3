"""The functions and patterns that an expression calls: the library tells only when it runs it."""

import re
from collections.abc import Iterable

import cel

from cadenza.adapters.expressions.cost import BUDGET
from cadenza.adapters.expressions.shape import Scope, TooComplex

FUNCTIONS = frozenset(
    (
        "bytes", "contains", "double", "duration", "dyn", "endsWith", "getDate", "getDayOfMonth",
        "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds", "getMinutes",
        "getMonth", "getSeconds", "int", "matches", "size", "startsWith", "string", "timestamp",
        "type", "uint",
    )
)  # fmt: skip
_OPERATOR = re.compile(r"\W|^_|_$")  # `_&&_`, `@in`, `!_`


def check_functions(expression: str, called: Iterable[str]) -> None:
    """TooComplex, with the place, where there is no such function."""
    for name in called:
        if name not in FUNCTIONS and not _OPERATOR.search(name):
            known = ", ".join(sorted(FUNCTIONS))
            raise TooComplex(f"{_place(name, expression)}: there is no {name}(), only: {known}")


def check_patterns(shape: Scope) -> None:
    """TooComplex where a pattern of matches() is none."""
    for pattern in (each for scope in shape.all() for each in scope.patterns):
        if pattern.units > BUDGET:
            continue  # it is refused for what it would take
        try:
            cel.compile(f"''.matches({pattern.written})").execute({})
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of the library is no Exception
            found = re.search(r"^error: (.*?)(?:\. Check|$)", str(error), re.MULTILINE)
            why = f": {found[1]}" if found else ""
            raise TooComplex(f"{pattern.written[:80]} is no pattern{why}") from error


def _place(name: str, expression: str) -> str:
    found = re.search(rf"\b{re.escape(name)}\s*\(", expression)
    before = expression[: found.start() if found else 0]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return f"at column {column}" if line == 1 else f"at line {line}, column {column}"
