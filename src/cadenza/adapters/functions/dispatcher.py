"""Calls of functions: async ones on the loop, others in a thread, isolated ones in a child."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

from cadenza.adapters.functions.answers import failure_of, success_of
from cadenza.adapters.functions.child_process import call_in_child
from cadenza.adapters.functions.registered import RegisteredFunction
from cadenza.adapters.functions.run import Run, present_run
from cadenza.application.ports.clock import Clock
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
        self._threads = ThreadPoolExecutor(threads, "cadenza-function") if threads else None

    async def dispatch(self, claim: Claim) -> Outcome:
        target = claim.target
        assert isinstance(target, FunctionTarget)
        function = self._functions.get(target.function)
        if function is None:
            message = f"{target.function} is not registered in this process"
            return Outcome(RunStatus.FAILURE, "not_registered", message)
        run = self._run_of(claim)
        present_run.set(run)  # of this task alone
        limit = asyncio.timeout(target.timeout.total_seconds())
        try:
            async with limit:
                return await self._call(function, run)
        except TimeoutError:
            why = f"it did not end within {humanize(target.timeout)}"
            return Outcome(RunStatus.TIMEOUT, "timeout", why)
        finally:
            run.cancel.set()

    async def _call(self, function: RegisteredFunction, run: Run) -> Outcome:
        if function.isolate and self._threads is not None:
            return await call_in_child(function, run)
        try:
            value = await self._value(function, run)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the user's code raises
            return failure_of(error)
        return success_of(value)

    async def _value(self, function: RegisteredFunction, run: Run) -> Any:
        given = (run,) if function.takes_run else ()
        if function.is_async:
            return await function.call(*given)
        if self._threads is None:
            return function.call(*given)
        call = partial(copy_context().run, function.call, *given)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def _run_of(self, claim: Claim) -> Run:
        return Run(
            id=str(claim.run_id),
            slot_at=claim.slot_at,
            attempt=claim.attempt,
            idempotency_key=claim.idempotency_key,
            deadline_at=self._clock.now() + claim.target.timeout,
            source=str(claim.source),
        )

    def close(self) -> None:
        """A thread cannot be ended: one that does not look at `run.cancel` goes on by itself."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
