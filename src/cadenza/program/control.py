"""Steering of functions from inside their own program, while it runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.outlook import Outlook
from cadenza.application.steering import Steering
from cadenza.domain.access import Caller
from cadenza.domain.errors import InvalidInput
from cadenza.domain.explanation import Explanation
from cadenza.domain.instants import iso
from cadenza.manifest.durations import parse_duration

Written = str | int | timedelta  # a duration: "5m", milliseconds, or as Python has it


@dataclass(frozen=True, slots=True)
class Control:
    """With which a running program reaches what is stored of its functions."""

    caller: Caller
    steering: Steering
    outlook: Outlook
    endpoint_ids: Mapping[str, UUID]

    async def run_now(self, function: str) -> datetime:
        return await self.steering.run_now(self.caller, self.endpoint_ids[function])

    async def hint_interval(
        self, function: str, interval: timedelta, ttl: timedelta, reason: str
    ) -> None:
        endpoint_id = self.endpoint_ids[function]
        await self.steering.hint_interval(self.caller, endpoint_id, interval, ttl, reason)

    async def hint_run(
        self, function: str, run_at: datetime | timedelta, ttl: timedelta, reason: str
    ) -> None:
        written = iso(run_at) if isinstance(run_at, datetime) else f"in {run_at}"
        about = (run_at, ttl, reason, written)
        await self.steering.hint_run(self.caller, self.endpoint_ids[function], *about)

    async def clear_hints(self, function: str) -> None:
        await self.steering.clear_hints(self.caller, self.endpoint_ids[function])

    async def pause(self, function: str, until_at: datetime | None, reason: str) -> None:
        await self.steering.pause(self.caller, self.endpoint_ids[function], until_at, reason)

    async def resume(self, function: str) -> None:
        await self.steering.resume(self.caller, self.endpoint_ids[function])

    async def explain(self, function: str) -> Explanation:
        ids = (self.caller.tenant_id, self.endpoint_ids[function])
        _, explanation = await self.outlook.explain(*ids)
        return explanation


def duration_of(field: str, written: Written) -> timedelta:
    if isinstance(written, timedelta):
        return written
    try:
        return parse_duration(written)
    except ValueError as error:
        raise InvalidInput(field, written, str(error)) from error
