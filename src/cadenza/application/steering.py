"""Manual control of endpoints: pauses, hints, run now, reset."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.application.ports.store import Store
from cadenza.application.recording import record
from cadenza.application.transitions import person, save_transitions
from cadenza.domain import steering
from cadenza.domain.access import Caller
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import Refused
from cadenza.domain.hint import Author, IntervalHint, OneShotHint
from cadenza.domain.instants import humanize

Transition = Callable[[Endpoint, datetime], Endpoint]


@dataclass(frozen=True, slots=True)
class Steering:
    store: Store
    cron: Cron

    async def pause(
        self, caller: Caller, endpoint_id: UUID, until_at: datetime | None, reason: str
    ) -> StoredEndpoint:
        """No scheduled run before an instant, or until it is resumed."""

        def paused(endpoint: Endpoint, now: datetime) -> Endpoint:
            return steering.pause(
                endpoint,
                until_at,
                Author.PERSON,
                reason,
                now,
                self.cron,
                user_id=caller.user_id,
            )

        data = {"until": str(until_at), "reason": reason}
        return await self._steer(caller, endpoint_id, "pause", paused, data)

    async def resume(self, caller: Caller, endpoint_id: UUID) -> StoredEndpoint:
        """Lift the person's and the planner's pause; the job's pause stays."""

        def resumed(endpoint: Endpoint, now: datetime) -> Endpoint:
            return steering.resume(endpoint, Author.PERSON, now, self.cron)

        return await self._steer(caller, endpoint_id, "resume", resumed)

    async def hint_interval(
        self, caller: Caller, endpoint_id: UUID, interval: timedelta, ttl: timedelta, reason: str
    ) -> StoredEndpoint:
        """Run at another interval for a while."""

        def hinted(endpoint: Endpoint, now: datetime) -> Endpoint:
            hint = IntervalHint(interval, now + ttl, Author.PERSON, reason, user_id=caller.user_id)
            return steering.suggest_interval(endpoint, hint, now, self.cron)

        data = {"interval": humanize(interval), "ttl": humanize(ttl), "reason": reason}
        return await self._steer(caller, endpoint_id, "hint.interval", hinted, data)

    async def hint_run(
        self,
        caller: Caller,
        endpoint_id: UUID,
        run_at: datetime | timedelta,
        ttl: timedelta,
        reason: str,
        written: str,
    ) -> StoredEndpoint:
        """Run once at an instant or after a delay, unless the baseline comes first. `written` is
        the time as it was sent, for the audit log."""

        def hinted(endpoint: Endpoint, now: datetime) -> Endpoint:
            at = now + run_at if isinstance(run_at, timedelta) else max(run_at, now)
            hint = OneShotHint(at, at + ttl, Author.PERSON, reason, user_id=caller.user_id)
            return steering.suggest_run_at(endpoint, hint, now, self.cron)

        data = {"at": written, "ttl": humanize(ttl), "reason": reason}
        return await self._steer(caller, endpoint_id, "hint.one-shot", hinted, data)

    async def clear_hints(self, caller: Caller, endpoint_id: UUID) -> StoredEndpoint:
        """Remove both hints; the baseline applies at once."""

        def cleared(endpoint: Endpoint, now: datetime) -> Endpoint:
            return steering.clear_hints(endpoint, Author.PERSON, now, self.cron)

        return await self._steer(caller, endpoint_id, "hints.clear", cleared)

    async def reset_failures(self, caller: Caller, endpoint_id: UUID) -> StoredEndpoint:
        """Set the failure count to 0, which ends the back-off."""

        def reset(endpoint: Endpoint, now: datetime) -> Endpoint:
            return steering.reset_failures(endpoint, now, self.cron)

        return await self._steer(caller, endpoint_id, "reset-failures", reset)

    async def run_now(self, caller: Caller, endpoint_id: UUID) -> datetime:
        """Request a run now, ignoring min and pauses; returns its slot."""
        stored = await self._steer(caller, endpoint_id, "run", steering.request_run_now)
        assert stored.endpoint.manual_slot_at is not None
        return stored.endpoint.manual_slot_at

    async def _steer(
        self,
        caller: Caller,
        endpoint_id: UUID,
        action: str,
        transition: Transition,
        data: dict[str, Any] | None = None,
    ) -> StoredEndpoint:
        async with self.store.transaction() as tx:
            stored = await tx.lock_endpoint(caller.tenant_id, endpoint_id)
            check_not_archived(stored.endpoint)
            endpoint = transition(stored.endpoint, stored.read_at)
            if endpoint == stored.endpoint:
                return stored
            await save_transitions(tx, [(stored.endpoint, endpoint)], person(caller))
            action = f"endpoint.{action}"
            await record(tx, caller.actor, caller.tenant_id, action, endpoint, data)
            if (slot_at := endpoint.manual_slot_at) not in (None, stored.endpoint.manual_slot_at):
                await tx.note_asked_run(endpoint_id, slot_at, caller.user_id)
        return stored.after(endpoint)


def check_not_archived(endpoint: Endpoint) -> None:
    if endpoint.archived_at is not None:
        raise Refused("it is archived")
