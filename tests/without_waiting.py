"""Coroutines that wait for nothing, run to their end where nothing else is awaited."""

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def without_waiting(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        coroutine.send(None)
    except StopIteration as ended:
        return ended.value
    raise AssertionError("it waits for something")
