"""CEL with `common-expression-language`: what cannot be read, or would take long, is refused."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cel

from cadenza.adapters.expressions.cost import BUDGET, cost_of
from cadenza.adapters.expressions.fields import fields_in, only
from cadenza.adapters.expressions.shape import TYPES, Path, Scope, TooComplex, shape_of
from cadenza.domain.errors import InvalidInput, NothingThere

MAX_LENGTH = 1000
MAX_REASON = 200
FUNCTIONS = frozenset(
    (
        "bytes", "contains", "double", "duration", "dyn", "endsWith", "getDate", "getDayOfMonth",
        "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds", "getMinutes",
        "getMonth", "getSeconds", "int", "matches", "size", "startsWith", "string", "timestamp",
        "type", "uint",
    )
)  # fmt: skip
_OPERATOR = re.compile(r"\W|^_|_$")  # `_&&_`, `@in`, `!_`
_INNER = re.compile(r'msg: "([^"]*)"')
_POSITION = re.compile(r"<input>:(\d+):(\d+): (?:Syntax error: )?([^\n]*)")


@dataclass(frozen=True, slots=True)
class _Compiled:
    program: cel.Program
    shape: Scope
    names: frozenset[str]  # of the values that it needs
    paths: tuple[Path, ...]  # that have to exist
    used: tuple[Path, ...]  # the longest first


class CelExpressions:
    def check(
        self,
        field: str,
        expression: str,
        names: Collection[str] | None = None,
        *,
        yes_or_no: bool = True,
    ) -> None:
        """InvalidInput, with the position where it cannot be read; also where it uses an unknown
        name, function or pattern, or uses no name and has no valid result."""
        compiled = _compiled(field, expression)
        for name in sorted(compiled.names - set(names)) if names is not None else ():
            known = ", ".join(sorted(names or ()))
            raise InvalidInput(field, expression, f"it knows no {name!r}, only: {known}")
        try:
            _check_functions(expression, compiled.program.functions())
            _check_patterns(compiled.shape)
            if not compiled.names:
                (self.holds if yes_or_no else self.value)(expression, {})
        except InvalidInput as error:
            raise InvalidInput(field, expression, error.fix) from error
        except TooComplex as error:
            raise InvalidInput(field, expression, str(error)) from error

    def paths(self, expression: str) -> Sequence[Path]:
        return _compiled("expression", expression).paths

    def holds(self, expression: str, values: Mapping[str, Any]) -> bool:
        result = self.value(expression, values)
        if not isinstance(result, bool):
            kind = type(result).__name__
            raise InvalidInput("expression", expression, f"it gives a {kind}, not yes or no")
        return result

    def value(self, expression: str, values: Mapping[str, Any]) -> Any:
        compiled = _compiled("expression", expression)
        used = only(compiled.used, values)
        if cost_of(compiled.shape, used) > BUDGET:
            raise InvalidInput(
                "expression", expression, "it would take too long on values of this size"
            )
        try:
            return compiled.program.execute(used)
        except (KeyboardInterrupt, SystemExit):
            raise
        except LookupError as error:
            raise NothingThere("expression", expression, _reason(error)) from error
        except BaseException as error:  # a panic of the library is no Exception
            raise InvalidInput("expression", expression, _reason(error)) from error


def _check_functions(expression: str, called: Iterable[str]) -> None:
    """The library reports unknown functions and patterns only when it runs the expression."""
    for name in called:
        if name in FUNCTIONS or _OPERATOR.search(name):
            continue
        match = re.search(rf"\b{re.escape(name)}\s*\(", expression)
        before = expression[: match.start() if match else 0]
        position = _position(before.count("\n") + 1, len(before) - before.rfind("\n"))
        known = ", ".join(sorted(FUNCTIONS))
        raise TooComplex(f"at {position}: there is no {name}(), only: {known}")


def _check_patterns(shape: Scope) -> None:
    for pattern in (pattern for scope in shape.all() for pattern in scope.patterns):
        if pattern.units > BUDGET:
            continue  # refused for its cost
        try:
            cel.compile(f"''.matches({pattern.written})").execute({})
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of the library is no Exception
            match = re.search(r"^error: (.*?)(?:\. Check|$)", str(error), re.MULTILINE)
            why = f": {match[1]}" if match else ""
            raise TooComplex(f"{pattern.written[:80]} is no pattern{why}") from error


def _compiled(field: str, expression: str) -> _Compiled:
    try:
        return _compile(expression)
    except TooComplex as error:
        raise InvalidInput(field, expression, str(error)) from error


@lru_cache(maxsize=5000)
def _compile(expression: str) -> _Compiled:
    if not expression.strip():
        raise TooComplex("it is empty; write something like status == 200")
    if len(expression) > MAX_LENGTH:
        raise TooComplex(f"it is longer than {MAX_LENGTH} characters")
    if not " ".join(expression.split()).isprintable():
        raise TooComplex("it holds characters that cannot be seen")
    try:
        program = cel.compile(expression)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the library is no Exception
        raise TooComplex(_where(str(error))) from error
    shape = shape_of(expression)
    names = _free_names(shape)
    elements = {scope.variable for scope in shape.all()}
    if not set(program.variables()) <= names | elements | TYPES:
        raise TooComplex("it cannot be judged; write it more plainly")  # we parsed it differently
    paths, used = fields_in(expression), fields_in(expression, asked_about=True)
    if not names <= {path[0] for path in used}:
        raise TooComplex("it cannot be judged; write it more plainly")
    return _Compiled(
        program,
        shape,
        frozenset(names),
        tuple(path for path in paths if path[0] in names),
        tuple(sorted((path for path in used if path[0] in names), key=len, reverse=True)),
    )


def _free_names(scope: Scope) -> set[str]:
    free = {path[0] for path in scope.paths}
    return free.union(*map(_free_names, scope.inner)) - {scope.variable}


def _where(message: str) -> str:
    match = _POSITION.search(message)
    if match is None:
        return f"it cannot be read: {_short(message)}"
    line, column, what = match.groups()
    if inner := _INNER.search(what):  # an internal error of the library
        what = inner[1]
    position = _position(int(line), int(column))
    return f"it cannot be read at {position}: {_short(what.partition(' expecting ')[0])}"


def _position(line: int, column: int) -> str:
    return f"column {column}" if line == 1 else f"line {line}, column {column}"


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return f"there is no {_short(str(error))}"
    return _short(str(error)) or type(error).__name__


def _short(text: str) -> str:
    first = text.strip().partition("\n")[0].partition(". ")[0]
    return first[:MAX_REASON].rstrip(".")
