"""CEL with `common-expression-language`: what cannot be read is refused.

Reading takes bounded time. Running does not: the library cannot be interrupted and holds the
interpreter's lock. So here it runs only for who is alone with it (a simulation, a command); a
program that others share runs it in a process of its own, see `pool.py`.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cadenza.adapters.expressions.fields import fields_in, only
from cadenza.adapters.expressions.library import cel
from cadenza.adapters.expressions.patterns import STAND_IN, compiled, matches, with_our_matches
from cadenza.adapters.expressions.shape import (
    TYPES,
    Path,
    Scope,
    TooComplex,
    shape_of,
    tokens_of,
)
from cadenza.application.expressions import yes_or_no
from cadenza.application.ports.expressions import Owner, Question
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
_OURS = {STAND_IN: matches}
_OPERATOR = re.compile(r"\W|^_|_$")  # `_&&_`, `@in`, `!_`
_IN_PYTHON = "Python function call failed: "
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
        yes_or_no_wanted: bool = True,
    ) -> None:
        """InvalidInput, with the position where it cannot be read; also where it uses an unknown
        name, function or pattern, or is a constant that has no valid result."""
        read = _compiled(field, expression)
        for name in sorted(read.names - set(names)) if names is not None else ():
            known = ", ".join(sorted(names or ()))
            raise InvalidInput(field, expression, f"it knows no {name!r}, only: {known}")
        try:
            _check_functions(expression, read.program.functions())
            _check_patterns(read.shape)
            if not read.names and not read.shape.inner:  # a macro may take its time
                result = run(expression, {})
                if yes_or_no_wanted:
                    yes_or_no(expression, result)
                elif isinstance(result, InvalidInput):
                    raise result
        except InvalidInput as error:
            raise InvalidInput(field, expression, error.fix) from error
        except TooComplex as error:
            raise InvalidInput(field, expression, str(error)) from error

    def paths(self, expression: str) -> Sequence[Path]:
        return _compiled("expression", expression).paths

    async def evaluate(self, _owner: Owner, questions: Sequence[Question]) -> list[Any]:
        return [run(*question) for question in questions]


def used_of(question: Question) -> dict[str, Any] | InvalidInput:
    """The values without what the expression does not use; or why it cannot be read."""
    try:
        return only(_compiled("expression", question.expression).used, question.values)
    except InvalidInput as error:
        return error


def run(expression: str, values: Mapping[str, Any]) -> Any:
    """What it gives, or the InvalidInput that says why it gives nothing."""
    try:
        read = _compiled("expression", expression)
        context = cel.Context(variables=only(read.used, values), functions=_OURS)
        return read.program.execute(context)
    except (KeyboardInterrupt, SystemExit):
        raise
    except InvalidInput as error:
        return error
    except LookupError as error:
        return NothingThere("expression", expression, _reason(error))
    except BaseException as error:  # noqa: BLE001 - a panic of the library is no Exception
        return InvalidInput("expression", expression, _reason(error))


def _check_functions(expression: str, called: Iterable[str]) -> None:
    """The library reports unknown functions and patterns only when it runs the expression."""
    for name in called:
        if name in FUNCTIONS or name == STAND_IN or _OPERATOR.search(name):
            continue
        match = re.search(rf"\b{re.escape(name)}\s*\(", expression)
        before = expression[: match.start() if match else 0]
        position = _position(before.count("\n") + 1, len(before) - before.rfind("\n"))
        known = ", ".join(sorted(FUNCTIONS))
        raise TooComplex(f"at {position}: there is no {name}(), only: {known}")


def _check_patterns(shape: Scope) -> None:
    for written in (written for scope in shape.all() for written in scope.patterns):
        compiled(cel.compile(written).execute({}))


def _compiled(field: str, expression: str) -> _Compiled:
    read = _read(expression)
    if isinstance(read, str):
        raise InvalidInput(field, expression, read)
    return read


@lru_cache(maxsize=5000)
def _read(expression: str) -> _Compiled | str:
    """Or why it cannot be used, which takes as long to find out."""
    try:
        return _compile(expression)
    except TooComplex as error:
        return str(error)


def _compile(expression: str) -> _Compiled:
    if not expression.strip():
        raise TooComplex("it is empty; write something like status == 200")
    if len(expression) > MAX_LENGTH:
        raise TooComplex(f"it is longer than {MAX_LENGTH} characters")
    if not " ".join(expression.split()).isprintable():
        raise TooComplex("it holds characters that cannot be seen")
    if any(token.text == STAND_IN for token in tokens_of(expression)):
        raise TooComplex(f"there is no {STAND_IN}(); matches() is the one")
    try:
        program = cel.compile(with_our_matches(expression))
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
    text = str(error).replace(STAND_IN, "matches").replace(_IN_PYTHON, "")
    return _short(text) or type(error).__name__


def _short(text: str) -> str:
    first = text.strip().partition("\n")[0].partition(". ")[0]
    return first[:MAX_REASON].rstrip(".")
