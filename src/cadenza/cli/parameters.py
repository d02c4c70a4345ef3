"""Options and arguments, as help shows them and as a wrong value is refused."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import typer

from cadenza.cli.terminal_text import plain

_SHOWN = {
    "bool": "", "str": "TEXT", "int": "N", "int range": "N", "float": "N",
    "path": "PATH", "file": "PATH", "directory": "PATH",
}  # fmt: skip
_KIND = re.compile(r"<(?:list\[)?(.*?)\]?>")


def show_plain_types(parameters: Iterable[Any]) -> None:
    """`TEXT` and not `<list[str]>`; nothing beside a flag, or an argument, which has a name."""
    for parameter in parameters:
        display = getattr(parameter, "display_type_rich", None)  # new in typer 0.29
        if display is not None and "display_type_rich" not in vars(parameter):
            parameter.display_type_rich = partial(_shown, parameter, display)


def _shown(parameter: Any, display: Callable[..., str | None], ctx: Any) -> str:
    shown = display(ctx=ctx) or ""
    kind = _KIND.fullmatch(shown)
    if kind is None:
        return shown  # named by its author
    plainly = _SHOWN.get(kind[1], kind[1])
    is_argument = parameter.param_type_name == "argument"
    return "" if is_argument and kind[1] in _SHOWN else plainly


def explained(error: typer.BadParameter) -> typer.BadParameter:
    """With the value that was given, and what was expected instead."""
    cause: Any = error.__cause__
    if hasattr(cause, "errors"):
        problems: list[dict[str, Any]] = cause.errors()
        error.message = _message(problems[0], plain(problems[0]["input"]))
    return error


def _message(problem: dict[str, Any], value: str) -> str:
    limits: dict[str, Any] = problem.get("ctx") or {}
    match problem["type"]:
        case "int_parsing" | "int_from_float":
            return f"{value!r} is not a whole number."
        case "float_parsing":
            return f"{value!r} is not a number."
        case "less_than_equal":
            return f"{value} is too large: the maximum is {limits['le']}."
        case "greater_than_equal":
            return f"{value} is too small: the minimum is {limits['ge']}."
        case _:
            return str(problem["msg"]).removeprefix("Value error, ")
