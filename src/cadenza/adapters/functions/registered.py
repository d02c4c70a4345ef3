"""A function as it is registered: how it is called, and where a child process finds it."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from cadenza.domain.errors import InvalidInput
from cadenza.domain.function_target import check_function_name

Function = Callable[..., Any]
MAIN = "__main__"


@dataclass(frozen=True, slots=True)
class RegisteredFunction:
    name: str
    call: Function
    is_async: bool
    takes_run: bool  # its one parameter is the run
    isolate: bool = False


@dataclass(frozen=True, slots=True)
class Location:
    """Where a child finds a function: in a module by its name, or in the file of the program."""

    module: str
    file: str | None
    qualname: str


def registered(name: str, call: Function, *, isolate: bool = False) -> RegisteredFunction:
    """InvalidInput where it cannot be called as it is."""
    check_function_name(name)
    if inspect.isgeneratorfunction(call) or inspect.isasyncgenfunction(call):
        raise InvalidInput("function", name, "it is a generator; return a value, do not yield")
    function = RegisteredFunction(name, call, _is_async(call), _takes_run(name, call), isolate)
    if isolate:
        location_of(function)
    return function


def location_of(function: RegisteredFunction) -> Location:
    module = getattr(function.call, "__module__", None)
    qualname = getattr(function.call, "__qualname__", "<locals>")
    if module is None or "<" in qualname:
        fix = "a child process must be able to import it: define it at the top level of a module"
        raise InvalidInput("isolate", function.name, fix)
    if module != MAIN:
        return Location(module, None, qualname)
    main = sys.modules[MAIN]
    spec = getattr(main, "__spec__", None)
    if spec is not None:  # python -m
        return Location(spec.name, None, qualname)
    file = getattr(main, "__file__", None)
    if file is None:
        fix = "it was typed in interactively; a child process needs a file to import it from"
        raise InvalidInput("isolate", function.name, fix)
    return Location(MAIN, file, qualname)


def _is_async(call: Function) -> bool:
    while isinstance(call, partial):
        call = call.func
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(
        getattr(call, "__call__", None)  # noqa: B004 - of an object that can be called
    )


def _takes_run(name: str, call: Function) -> bool:
    needed = [
        parameter
        for parameter in inspect.signature(call).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if len(needed) > 1 or any(one.kind is one.KEYWORD_ONLY for one in needed):
        names = ", ".join(parameter.name for parameter in needed)
        raise InvalidInput("function", name, f"it may take one argument, the run, and has {names}")
    return bool(needed)
