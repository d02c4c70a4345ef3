"""Running a program: a worker until a signal stops it, with other tasks beside it."""

import asyncio
import signal
from collections.abc import Coroutine, Iterable
from typing import Any, Protocol

import structlog

from cadenza.application.waiting import end_all
from cadenza.domain.errors import StoreUnavailable

log = structlog.get_logger()


class Worker(Protocol):
    async def run(self) -> None: ...

    def stop(self) -> None:
        """Gently; a second call ends it at once."""
        ...


class MovingWorker(Worker, Protocol):
    def is_moving(self) -> bool: ...


class Workers:
    """Those of one program, which end together."""

    def __init__(self, *workers: MovingWorker) -> None:
        self._workers = workers
        self._is_stopping = False

    async def run(self) -> None:
        tasks = [asyncio.create_task(worker.run()) for worker in self._workers]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not self._is_stopping:  # one of them broke
                self.stop()
            await asyncio.gather(*tasks)
        finally:
            await end_all(tasks)

    def stop(self) -> None:
        self._is_stopping = True
        for worker in self._workers:
            worker.stop()

    def are_moving(self) -> bool:
        return all(worker.is_moving() for worker in self._workers)


async def run_with(worker: Worker, beside: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Until the worker has ended. Where a task beside it breaks, it is stopped and that raised."""
    working = asyncio.create_task(worker.run())
    tasks = [working, *(asyncio.create_task(task) for task in beside)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            worker.stop()
        await working
    finally:
        await end_all(tasks)


def stop_on_signals(worker: Worker) -> None:
    def stop(name: str) -> None:
        log.info("stopping; a second signal stops at once", signal=name)
        worker.stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number.name)


def log_trouble(error: StoreUnavailable) -> None:
    log.warning("the database does not answer; trying again", error=str(error))
