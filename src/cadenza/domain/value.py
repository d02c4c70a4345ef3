"""Values of the hot path."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """A frozen dataclass, for values that are made by the thousand: frozen by the type checker.

    Python's own freezing sets each field through a call; a run makes ten such values, and a worker
    would spend a twentieth of its time on that.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
