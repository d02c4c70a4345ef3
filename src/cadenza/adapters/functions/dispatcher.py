"""Calls of functions: async ones on the loop, others in a thread, isolated ones in a child."""

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from cadenza.adapters.functions.answers import failure_of, success_of
from cadenza.adapters.functions.child_process import call_in_child
from cadenza.adapters.functions.leaving import Leavable
from cadenza.adapters.functions.registered import RegisteredFunction
from cadenza.adapters.functions.run import PresentRun, Run, present_run
from cadenza.adapters.functions.threads import Threads, Work
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.tracing import present_traceparent
from cadenza.domain.function_target import FunctionTarget
from cadenza.domain.instants import humanize
from cadenza.domain.run import Claim, Outcome, RunStatus


class FunctionDispatcher:
    """Without threads (in simulated time), a function that is not async runs on the loop, too."""

    def __init__(
        self, functions: Mapping[str, RegisteredFunction], clock: Clock, threads: int = 0
    ) -> None:
        self._functions = functions
        self._clock = clock
        self._threads = Threads(threads) if threads else None
        self._in_threads: dict[str, Work[Any]] = {}  # the last of each function

    async def dispatch(self, claim: Claim) -> Outcome:
        target = claim.target
        assert isinstance(target, FunctionTarget)
        function = self._functions.get(target.function)
        if function is None:
            message = f"{target.function} is not registered in this process"
            return Outcome(RunStatus.FAILURE, "not_registered", message)
        run = self._run_of(claim)
        present_run.set(run)  # in this task alone
        limit = asyncio.timeout(target.timeout.total_seconds())
        try:
            async with limit:
                outcome = await self._call(function, run, limit.expired)
            return self._timeout(target) if limit.expired() else outcome
        except TimeoutError:
            return self._timeout(target)
        except asyncio.CancelledError:
            if not limit.expired():
                raise
            _uncancel()  # the function had cancelled its own task as well
            return self._timeout(target)
        finally:
            run.end()

    async def _call(
        self, function: RegisteredFunction, run: PresentRun, is_over: Callable[[], bool]
    ) -> Outcome:
        if function.isolate and self._threads is not None:
            return await call_in_child(function, run.get())
        arguments = (run.get(),) if function.takes_run else ()
        if function.is_async:
            return await _awaited(function.name, function.call(*arguments), is_over)
        if self._threads is None:
            value = _called(function, arguments)
        else:
            value = await self._in_thread(self._threads, function, arguments)
        # What a decorator without `async` has made of an async function.
        if isinstance(value, Outcome):
            return value
        return await _awaited(function.name, value, is_over)

    async def _in_thread(
        self, threads: Threads, function: RegisteredFunction, arguments: tuple[Any, ...]
    ) -> "Outcome | Coroutine[Any, Any, Any]":
        earlier = self._in_threads.get(function.name)
        if earlier is not None and earlier.has_begun and not earlier.has_ended:
            return Outcome(RunStatus.FAILURE, "still_running", _STILL_RUNNING)
        work: Work[Any] = Work(lambda: _called(function, arguments))
        self._in_threads[function.name] = work
        threads.start(work)
        return await work.result

    def _timeout(self, target: FunctionTarget) -> Outcome:
        why = f"it did not end within {humanize(target.timeout)}"
        work = self._in_threads.get(target.function)
        if self._threads is not None and work is not None and not work.has_begun:
            most = self._threads.most
            why = f"it waited {humanize(target.timeout)} for a thread: all {most} are busy"
        return Outcome(RunStatus.TIMEOUT, "timeout", why)

    def _run_of(self, claim: Claim) -> PresentRun:
        now, traceparent = self._clock.now(), present_traceparent.get()

        def make() -> Run:
            return Run(
                id=str(claim.run_id),
                slot_at=claim.slot_at,
                attempt=claim.attempt,
                idempotency_key=claim.idempotency_key,
                deadline_at=now + claim.target.timeout,
                source=str(claim.source),
                traceparent=traceparent,
            )

        return PresentRun(make)

    def close(self) -> None:
        """A thread cannot be ended: one that does not look at `run.cancel` goes on by itself."""
        if self._threads is not None:
            self._threads.close()


_STILL_RUNNING = (
    "an earlier run is still busy in its thread, past its deadline, and a thread cannot be "
    "stopped: check run.cancel in the function, or use isolate=True, which runs it in a process"
)


async def _awaited(
    name: str, coroutine: Coroutine[Any, Any, Any], is_over: Callable[[], bool]
) -> Outcome:
    leavable = Leavable(name, coroutine, is_over)
    try:
        return success_of(await leavable)
    except asyncio.CancelledError as error:
        if leavable.is_ending:
            raise
        _uncancel()
        return failure_of(error)  # it cancelled its own task, or something that it waited for
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises
        return _raised(error)


def _uncancel() -> None:
    """A worker would take it for its own cancellation, and the run would never end."""
    task = asyncio.current_task()
    assert task is not None
    while task.cancelling():
        task.uncancel()


def _called(
    function: RegisteredFunction, arguments: tuple[Any, ...]
) -> "Outcome | Coroutine[Any, Any, Any]":
    try:
        value = function.call(*arguments)
        return value if inspect.iscoroutine(value) else success_of(value)
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises
        return _raised(error)


def _raised(error: BaseException) -> Outcome:
    is_main = threading.current_thread() is threading.main_thread()
    if isinstance(error, KeyboardInterrupt) and is_main:
        raise error  # Ctrl-C, which comes to no other thread
    return failure_of(error)
