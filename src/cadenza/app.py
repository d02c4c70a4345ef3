"""Cadenza inside your own Python program: functions on schedules that adapt to what they return.

from cadenza import Cadenza
app = Cadenza()

@app.every("1m", min="5s", max="10m", job="shop")
async def queue_depth() -> dict: ...

queue_depth.when("response.queue_depth > 300", interval="10s", ttl="10m")
app.run()
"""

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, overload

from cadenza.adapters.functions import in_child
from cadenza.domain.errors import Refused
from cadenza.program.control import Written
from cadenza.program.declarations import Declarations
from cadenza.program.function import Function
from cadenza.roots.validation_policy import checks

P = ParamSpec("P")
R = TypeVar("R")
THREADS = 32


class Cadenza:
    """One program. Processes with the same name and database share its runs by leases; a function
    runs only in processes that declare it. Without `database_url` and CADENZA_DATABASE_URL, an
    embedded PostgreSQL is started in `data_folder`."""

    def __init__(
        self,
        name: str | None = None,
        *,
        database_url: str | None = None,
        data_folder: str | Path | None = None,
        tenant: str | None = None,
        threads: int = THREADS,
    ) -> None:
        self.declarations = Declarations(name or _callers_module(), checks)
        self._overrides = {"database_url": database_url, "data_folder": data_folder}
        self._tenant = tenant
        self._threads = threads
        self._running: AsyncExitStack | None = None

    @property
    def name(self) -> str:
        return self.declarations.program

    def job(
        self, name: str, *, description: str | None = None, planner: dict[str, Any] | None = None
    ) -> None:
        """Set a job's description and what planners may do with it, as in a manifest."""
        self.declarations.add_job(name, description=description, planner=planner)

    def every(
        self,
        interval: Written,
        *,
        min: Written | None = None,  # noqa: A002 - the words of the field
        max: Written | None = None,  # noqa: A002
        job: str | None = None,
        name: str | None = None,
        timeout: Written | None = None,
        isolate: bool = False,
    ) -> Callable[[Callable[P, R]], Function[P, R]]:
        """Run it at this interval; hints and rules may change that between `min` and `max`."""
        limits = {"min_interval": min, "max_interval": max, "timeout": timeout}
        return self._decorator(job, name, isolate, every=interval, **limits)

    def cron(
        self,
        expression: str,
        *,
        tz: str | None = None,
        min: Written | None = None,  # noqa: A002
        max: Written | None = None,  # noqa: A002
        job: str | None = None,
        name: str | None = None,
        timeout: Written | None = None,
        isolate: bool = False,
    ) -> Callable[[Callable[P, R]], Function[P, R]]:
        """Run it by a cron expression in a time zone, UTC by default."""
        limits = {"min_interval": min, "max_interval": max, "timeout": timeout}
        return self._decorator(job, name, isolate, cron=expression, timezone=tz, **limits)

    @overload
    def on_demand(self, function: Callable[P, R]) -> Function[P, R]: ...

    @overload
    def on_demand(
        self,
        *,
        min: Written | None = None,
        job: str | None = None,
        name: str | None = None,
        timeout: Written | None = None,
        isolate: bool = False,
    ) -> Callable[[Callable[P, R]], Function[P, R]]: ...

    def on_demand(
        self,
        function: Callable[..., Any] | None = None,
        *,
        min: Written | None = None,  # noqa: A002
        job: str | None = None,
        name: str | None = None,
        timeout: Written | None = None,
        isolate: bool = False,
    ) -> Any:
        """Run it only when a hint, a rule or a person asks; `min` is its cooldown."""
        fields = {"on_demand": True, "min_interval": min, "timeout": timeout}
        decorator = self._decorator(job, name, isolate, **fields)
        return decorator if function is None else decorator(function)

    def _decorator(
        self, job: str | None, name: str | None, isolate: bool, **fields: Any
    ) -> Callable[[Callable[P, R]], Function[P, R]]:
        def declare(function: Callable[P, R]) -> Function[P, R]:
            own = name or getattr(function, "__name__", type(function).__name__)
            within = job or self.name
            self.declarations.add_function(own, function, within, isolate=isolate, **fields)
            return Function(self.declarations, own, within, function)

        return declare

    def run(self) -> None:
        """Run until SIGTERM or Ctrl-C. Runs in flight may finish; a second signal ends them."""
        if in_child.here:
            return  # the module was loaded to call one function
        if threading.current_thread() is not threading.main_thread():
            raise Refused(
                "app.run() needs the main thread, which gets the signals that stop it; in another "
                "thread, write `async with app:` on a loop of that thread"
            )
        if _is_in_a_loop():
            raise Refused(
                "an event loop is already running here, as in a notebook or a web application: "
                "write `async with app:` instead of app.run()"
            )
        from cadenza.roots.program_run import run_until_stopped  # noqa: PLC0415 - it takes a while

        run_until_stopped(self.declarations, self._overrides, self._tenant, self._threads)

    async def __aenter__(self) -> "Cadenza":
        """Run beside other work on the same loop, as in the lifespan of a web application."""
        from cadenza.roots.program_run import started  # noqa: PLC0415

        if self._running is not None:
            raise Refused(f"the program {self.name} is already running in this process")
        async with AsyncExitStack() as stack:
            about = (self.declarations, self._overrides, self._tenant, self._threads)
            await stack.enter_async_context(started(*about))
            self._running = stack.pop_all()
        return self

    async def __aexit__(self, *failure: Any) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running.__aexit__(*failure)


def _is_in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _callers_module() -> str:
    """`shop` for shop.py, however it was started."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = frame.f_back if frame is not None else None
    names: dict[str, Any] = frame.f_globals if frame is not None else {}
    module: str = names.get("__name__", "program")
    if module in ("__main__", "__cadenza_child__"):
        spec, file = names.get("__spec__"), names.get("__file__")
        if spec is not None and module == "__main__":
            return spec.name.removesuffix(".__main__")
        return Path(file).stem if file else "program"
    return module
