"""The targets of a life: they answer in their own time, whatever becomes of who asked."""

import asyncio
from contextvars import Context
from dataclasses import dataclass, replace
from datetime import timedelta

from cadenza.adapters.simulated.chance import SeededChance
from cadenza.adapters.simulated.time import SimulatedClock
from cadenza.domain.run import Claim, Outcome, RunStatus
from tests.chaos.history import Delivery
from tests.chaos.life import Probe
from tests.chaos.stepping import Node

ARRIVES = 0.002  # seconds after it was sent
NEVER = 1e9
UNREADABLE = Outcome(RunStatus.FAILURE, error_message="an answer that nobody can read")


@dataclass(slots=True)
class Open:
    delivery: Delivery
    node: Node


class Receiver:
    def __init__(self, clock: SimulatedClock, chance: SeededChance) -> None:
        self._clock = clock
        self._chance = chance
        self._open: dict[int, Open] = {}
        self._number = 0
        self.deliveries: list[Delivery] = []
        self.probes: dict[object, Probe] = {}

    async def ask(self, claim: Claim, node: Node) -> Outcome:
        """As a worker sees it: the receiver works on its own, and hears when it hangs up."""
        loop = asyncio.get_running_loop()
        self._number += 1
        number = self._number
        answering = loop.create_task(self._answer(claim, number, node), context=Context())
        try:
            outcome = await asyncio.shield(answering)
        except asyncio.CancelledError:
            answering.cancel()
            self._close(number)
            raise
        if outcome is UNREADABLE:
            raise ValueError(UNREADABLE.error_message)
        return outcome

    def hang_up(self, node: Node) -> None:
        """Its process is gone, and with it every connection."""
        for number in [number for number, each in self._open.items() if each.node is node]:
            self._close(number)

    def _close(self, number: int) -> None:
        closing = self._open.pop(number, None)
        if closing is not None:
            ended = asyncio.get_running_loop().time()
            self.deliveries.append(replace(closing.delivery, ended=ended))

    def close_all(self) -> None:
        for number in list(self._open):
            self._close(number)

    async def _answer(self, claim: Claim, number: int, node: Node) -> Outcome:
        await asyncio.sleep(ARRIVES)
        if node.dead:
            return Outcome(RunStatus.FAILURE)
        loop = asyncio.get_running_loop()
        delivery = Delivery(
            number,
            claim.endpoint_id,
            claim.idempotency_key,
            claim.attempt,
            self._clock.now(),
            loop.time(),
            NEVER,
            claim.tenant_id,
        )
        self._open[number] = Open(delivery, node)
        probe = self.probes[claim.endpoint_id]
        takes, outcome = self._reply(probe, claim, number)
        limit = claim.target.timeout.total_seconds()
        await asyncio.sleep(min(takes, limit))
        self._close(number)
        if takes > limit:
            return Outcome(RunStatus.TIMEOUT, "timeout", "no answer in time")
        if outcome is None:
            return UNREADABLE
        return replace(outcome, body={"delivery": number})

    def _reply(self, probe: Probe, claim: Claim, number: int) -> tuple[float, Outcome | None]:
        about = (claim.endpoint_name, number)
        quick = self._chance.between(0.005, 0.2, "quick", *about)
        well = Outcome(RunStatus.SUCCESS, status_code=200)
        failed = Outcome(RunStatus.FAILURE, "status", "HTTP 500", status_code=500)
        match probe.way:
            case "slow":
                return self._chance.between(0.1, 7, "slow", *about), well
            case "fails":
                return quick, failed
            case "flaps":
                return quick, well if self._chance.between(0, 1, "flap", *about) < 0.5 else failed
            case "hangs":
                return NEVER, well
            case "drips":
                return self._chance.between(5, 20, "drip", *about), well
            case "lies":
                return quick, None
            case "asks to wait":
                return quick, replace(failed, retry_after=timedelta(seconds=3))
            case _:
                return quick, well
