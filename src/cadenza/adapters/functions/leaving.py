"""A coroutine that can be left: one that goes on after its cancellation holds up nobody.

It is driven by hand. Where it is left it is closed, and gets no further step. One that blocks the
loop, and with it the leases of all, is named in the log.
"""

import asyncio
import ctypes
from collections.abc import Callable, Coroutine, Generator
from time import perf_counter
from typing import Any, Generic, TypeVar

import structlog

from cadenza.application.waiting import OVER

T = TypeVar("T")
GRACE = 5.0  # seconds from its cancellation, to tidy up
BLOCKS_FROM = 2.0  # seconds between two of its awaits
BLOCKS = "a function blocks the event loop and all others: write `def`, or use isolate=True"
RAISED = "a function was left after its time, and raised when it was closed"
log = structlog.get_logger()


class Leavable(Generic[T]):
    def __init__(
        self, name: str, coroutine: Coroutine[Any, Any, T], is_over: Callable[[], bool]
    ) -> None:
        self._name = name
        self._coroutine = coroutine
        self._is_over = is_over
        self._is_left = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_ending(self) -> bool:
        """Cancelled from outside: its time is over, its lease is lost, or its worker ends."""
        return self._timer is not None

    def __await__(self) -> Generator[Any, Any, T]:
        step: Callable[[Any], Any] = self._coroutine.send
        argument: Any = None
        try:
            while True:
                began = perf_counter()
                try:
                    awaited = step(argument)
                except StopIteration as ended:
                    return ended.value
                finally:
                    if (took := perf_counter() - began) > BLOCKS_FROM:
                        log.warning(BLOCKS, function=self._name, seconds=round(took, 1))
                try:
                    argument = yield awaited
                    step = self._coroutine.send
                except BaseException as error:
                    if self._is_left:
                        _present_task().uncancel()  # ours, with which it was woken
                        raise
                    self._note_cancellation(error)
                    step, argument = self._coroutine.throw, error
        finally:
            self._end()

    def _note_cancellation(self, error: BaseException) -> None:
        """One of its own, such as a timeout inside it, does not end it."""
        is_ours = isinstance(error, asyncio.CancelledError) and (
            self._is_over() or error.args == (OVER,)
        )
        if is_ours and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(GRACE, self._leave, _present_task())

    def _leave(self, task: asyncio.Task[Any]) -> None:
        self._is_left = True
        task.cancel()

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        try:
            self._coroutine.close()
        except RuntimeError:  # it goes on after this, too
            # Python would close it once more when it is deleted, perhaps without a loop, where each
            # of its awaits fails at once: one that ignores every error would never end.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._coroutine))
        except Exception as error:  # noqa: BLE001 - what it raised while it tidied up
            log.warning(RAISED, function=self._name, error=repr(error))


def _present_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task
