"""Charging for calls: each once, also where the graph, its stream or the database is gone."""

import asyncio
from dataclasses import asdict, dataclass
from uuid import UUID

import structlog

from cadenza.adapters.gateway.asked import Asked
from cadenza.adapters.gateway.usage import Reading
from cadenza.application.ports.gateway import Meter
from cadenza.domain.billing import Basis, TokenUsage
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.graph import ErrorCode

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between tries while the database is away

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Used:
    unit: str
    model: str
    usage: TokenUsage
    basis: Basis


class Settling:
    """Of one run. Every charge is a task of its own, which nothing but `end` can stop."""

    def __init__(self, run_id: UUID, meter: Meter) -> None:
        self._run_id = run_id
        self._meter = meter
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, used: _Used) -> asyncio.Task[None]:
        task = asyncio.create_task(self._charge(used))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def end(self, patience: float) -> None:
        """Wait for every charge; what the database does not take meanwhile is reported as lost."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=patience)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _charge(self, used: _Used) -> None:
        pause = FIRST_PAUSE
        try:
            while True:
                try:
                    return await self._meter.settle(used.unit, used.model, used.usage, used.basis)
                except StoreUnavailable as error:
                    _log.warning("charge_waits", **self._figures(used), error=str(error))
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
        except asyncio.CancelledError:
            self._lost(used, "the database did not take it before the run was closed")
            raise
        except Exception as error:  # noqa: BLE001 - one charge must not take the worker with it
            self._lost(used, repr(error))

    def _lost(self, used: _Used, why: str) -> None:
        _log.error("charge_lost", **self._figures(used), error=why)
        message = f"the charge for call {used.unit} could not be stored"
        self._meter.failed(ErrorCode.INTERNAL, message)

    def _figures(self, used: _Used) -> dict[str, object]:
        """Everything that is needed to charge it by hand."""
        return {"run_id": str(self._run_id), **asdict(used)}


class Bill:
    """What one call owes from the moment it was sent: settled once, however it ends."""

    def __init__(self, settling: Settling, unit: str, asked: Asked, reading: Reading) -> None:
        self._settling = settling
        self._unit = unit
        self._asked = asked
        self._reading = reading
        self._task: asyncio.Task[None] | None = None
        self._is_owed = False

    def owe(self) -> None:
        """It is on its way to the provider. What is cut before that costs nobody anything."""
        self._is_owed = True

    def forgive(self) -> None:
        """The provider gave no answer, or none of a model: nothing is owed."""
        self._is_owed = False

    async def settle(self, patience: float) -> None:
        """The provider has answered, and the graph gets the end of it when it is charged.

        While the database is away the graph waits no longer than this, and is charged later.
        """
        if self._reading.is_worthless:
            self.forgive()
        self.settle_soon()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=patience)

    def settle_soon(self) -> None:
        if self._task is not None or not self._is_owed:
            return
        usage = self._reading.usage if self._reading.is_complete else None
        basis = Basis.ESTIMATED if usage is None else Basis.COUNTED
        usage = usage or self._reading.estimated(self._asked.parsed())
        self._task = self._settling.begin(_Used(self._unit, self._asked.model, usage, basis))
