"""How functions are called: on the loop, in threads, and in children that can be killed."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cadenza.adapters.functions.dispatcher import FunctionDispatcher
from cadenza.adapters.functions.registered import registered
from cadenza.adapters.system.clock import SystemClock
from cadenza.domain.function_target import FunctionTarget
from cadenza.domain.run import Outcome
from tests.adapters.postgres.support import until
from tests.factories import make_claim, make_endpoint
from tests.program import functions

LONG = timedelta(minutes=1)


class Calls:
    def __init__(self) -> None:
        self.functions: dict[str, Any] = {}
        self.dispatcher = FunctionDispatcher(self.functions, SystemClock(), threads=2)

    async def call(
        self, function: Callable[..., Any], *, isolate: bool = False, limit: timedelta = LONG
    ) -> Outcome:
        name = function.__name__
        self.functions[name] = registered(name, function, isolate=isolate)
        target = FunctionTarget("shop", name, limit)
        return await self.dispatcher.dispatch(replace(make_claim(make_endpoint()), target=target))


@pytest.fixture
def calls() -> Iterator[Calls]:
    calls = Calls()
    yield calls
    calls.dispatcher.close()


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "pids"
    monkeypatch.setenv("CADENZA_TEST_PIDS", str(path))
    return path


async def test_an_async_function_runs_on_the_loop(calls: Calls) -> None:
    async def name() -> str:
        return threading.current_thread().name

    assert (await calls.call(name)).body == threading.current_thread().name


async def test_another_runs_in_a_thread(calls: Calls) -> None:
    def name() -> str:
        return threading.current_thread().name

    assert str((await calls.call(name)).body).startswith("cadenza-function")


async def test_a_thread_that_takes_too_long_is_told_so(calls: Calls, pids: Path) -> None:
    outcome = await calls.call(functions.wait_for_cancel, limit=timedelta(milliseconds=50))
    assert (outcome.status, outcome.error_kind) == ("timeout", "timeout")
    await until(lambda: pids.exists() and pids.read_text() == "cancelled")


async def test_an_isolated_function_has_a_process_of_its_own(calls: Calls) -> None:
    outcome = await calls.call(functions.pid, isolate=True)
    assert isinstance(outcome.body, int)
    assert outcome.body != os.getpid()


async def test_it_knows_its_run_and_may_print(calls: Calls) -> None:
    outcome = await calls.call(functions.about, isolate=True)
    assert outcome.status == "success"
    assert isinstance(outcome.body, dict)
    assert (outcome.body["attempt"], outcome.body["late"]) == (1, False)


async def test_what_it_raises_comes_back_with_its_traceback(calls: Calls) -> None:
    outcome = await calls.call(functions.fail, isolate=True)
    assert (outcome.status, outcome.error_kind) == ("failure", "exception")
    lines = (outcome.error_message or "").splitlines()
    assert lines[0] == "LookupError: nothing there"
    assert "child.py" not in (outcome.error_message or "")


async def test_a_child_that_dies_is_a_failure(calls: Calls) -> None:
    outcome = await calls.call(functions.die, isolate=True)
    assert (outcome.error_kind, outcome.error_message) == (
        "process_ended",
        "its process was killed by signal 9 and returned nothing",
    )


async def test_at_its_deadline_it_is_killed_with_all_that_it_started(
    calls: Calls, pids: Path
) -> None:
    call = asyncio.create_task(
        calls.call(functions.hang_with_a_child, isolate=True, limit=timedelta(seconds=20))
    )
    await until(lambda: pids.exists() and " " in pids.read_text(), within=20)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: not any(_lives(int(pid)) for pid in pids.read_text().split()))


def _lives(pid: int) -> bool:
    """A zombie that nobody has waited for is dead, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
