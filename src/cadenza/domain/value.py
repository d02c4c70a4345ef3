"""Values of the hot path."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """A frozen dataclass, for values that are made by the thousand: frozen by the type checker.

    Python's own freezing sets each field through a call; a run makes ten such values, and a worker
    would spend a twentieth of its time on that.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


def replace(instance: T, /, **changes: Any) -> T:
    """As that of `dataclasses`, for those whose fields are all given to `__init__`: an endpoint is
    copied several times a run, and this takes a fifth of the time."""
    read, places = _fields_of(type(instance))
    make, *values = read(instance)
    for name, new in changes.items():
        values[places[name]] = new
    return make(*values)


@cache
def _fields_of(cls: Any) -> tuple[Callable[[object], tuple[Any, ...]], dict[str, int]]:
    names = [field.name for field in fields(cls)]
    places = {name: place for place, name in enumerate(names)}
    return attrgetter("__class__", *names), places
