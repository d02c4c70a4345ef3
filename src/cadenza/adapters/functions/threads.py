"""Threads for functions that are not async.

The standard library's pool waits for its threads when the program ends, and one that is blocked for
ever would hold it up; these end with it.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class Work(Generic[T]):
    """A call in a thread, which may go on where nobody waits for it any more."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._context = copy_context()
        self._loop = asyncio.get_running_loop()
        self.result: asyncio.Future[T] = self._loop.create_future()
        self.has_begun = self.has_ended = False

    def run(self) -> None:
        """It raises nothing: how it went is what it returns."""
        if self.result.cancelled():  # its time was over before it had a thread
            return
        self.has_begun = True
        try:
            result = self._context.run(self._call)
        finally:
            self.has_ended = True
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._note, result)

    def _note(self, result: T) -> None:
        if not self.result.done():
            self.result.set_result(result)


class Threads:
    """At most so many, each made when there is none to spare."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._count = 0
        self._idle = threading.Semaphore(0)
        self._waiting: SimpleQueue[Work[object] | None] = SimpleQueue()

    def start(self, work: Work[object]) -> None:
        self._waiting.put(work)
        if not self._idle.acquire(blocking=False) and self._count < self.most:
            self._count += 1
            name = f"cadenza-function_{self._count}"
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def close(self) -> None:
        """One that is at work goes on by itself."""
        for _ in range(self._count):
            self._waiting.put(None)

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            work.run()
            del work
            self._idle.release()
