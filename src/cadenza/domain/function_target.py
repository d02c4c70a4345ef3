"""A function of somebody's own Python program as the target of an endpoint."""

import re
from dataclasses import dataclass
from datetime import timedelta

from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import humanize

DEFAULT_TIME = timedelta(minutes=10)
MAX_TIME = timedelta(days=1)
_PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_FUNCTION = re.compile(r"[^\W\d][\w.]{0,99}")


@dataclass(frozen=True, slots=True)
class FunctionTarget:
    """It runs in the processes of its program, and there only where it is registered."""

    program: str
    function: str
    timeout: timedelta = DEFAULT_TIME

    @property
    def path(self) -> str:
        return f"{self.program}:{self.function}"

    @property
    def host(self) -> str:
        """A process that does not have the function passes over it by this."""
        return f"function:{self.path}"

    @property
    def runs_on(self) -> str:
        return runs_on(self.program)


def runs_on(program: str) -> str:
    """What the processes of a program claim."""
    return f"program:{program}"


def function_target(path: str, timeout: timedelta | None = None) -> FunctionTarget:
    """Of `program:function`."""
    program, _, function = path.partition(":")
    return FunctionTarget(program, function, timeout or DEFAULT_TIME)


def check_program_name(field: str, name: str) -> None:
    if _PROGRAM.fullmatch(name) is None:
        fix = "1 to 100 letters, digits, dots, hyphens and _, not beginning with a dot or hyphen"
        raise InvalidInput(field, name, fix)


def check_function_name(name: str) -> None:
    """That of a function as it is declared; a lambda has none."""
    if _FUNCTION.fullmatch(name) is None:
        fix = "a letter or _, then up to 99 letters, digits, dots and _; give another with name="
        raise InvalidInput("name", name, fix)


def check_function_target(target: FunctionTarget) -> None:
    """InvalidInput with the field, the value and the reason, for the first thing that is wrong."""
    is_name = _FUNCTION.fullmatch(target.function) is not None
    if _PROGRAM.fullmatch(target.program) is None or not is_name:
        fix = "write the program and the function, like shop:queue_depth, 100 characters each"
        raise InvalidInput("function", target.path, fix)
    if not timedelta(milliseconds=1) <= target.timeout <= MAX_TIME:
        raise InvalidInput(
            "timeout", humanize(target.timeout), f"from 1 ms to {humanize(MAX_TIME)}"
        )
