"""Schedules and their slots in a transaction: set-based, however many slots there are."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.grants import grants_by_id
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.record_rows import CHANNELS, translated_unique_violations
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.schedules import (
    definition_values,
    schedule_of,
    schedule_run_of,
)
from cadenza.adapters.postgres.storable import from_json, to_json, to_text
from cadenza.application.ports.claims import ClaimRequest, Renewal
from cadenza.application.ports.grants import Starting
from cadenza.application.ports.schedules import ClosedSlots, DueSlots, SlotJob
from cadenza.application.ports.store import Channel
from cadenza.domain.claiming import TAKE_TURNS
from cadenza.domain.errors import NotFound, StoreUnavailable
from cadenza.domain.grant import Grant
from cadenza.domain.graph import Resume
from cadenza.domain.schedule import Concurrency, Schedule
from cadenza.domain.schedule_difference import StoredSchedule
from cadenza.domain.slot import (
    DueSlot,
    FinishedSlot,
    RunEvent,
    ScheduleRun,
    SlotClaim,
    SlotDecision,
)


class PostgresScheduleRows:
    connection: Connection

    async def insert_schedule(self, schedule: Schedule) -> None:
        async with translated_unique_violations(schedule.label):
            await self.connection.execute(
                query("insert_schedule"),
                schedule.id,
                schedule.tenant_id,
                schedule.user_id,
                schedule.grant_id,
                *definition_values(schedule.definition),
                schedule.created_at,
            )

    async def lock_schedule(self, tenant_id: UUID, schedule_id: UUID) -> tuple[Schedule, datetime]:
        locked = await self.connection.fetchval(query("lock_schedule"), tenant_id, schedule_id)
        if locked is None:
            raise NotFound(f"no schedule {schedule_id}")
        schedules = await self._schedules([schedule_id])
        return schedules[schedule_id], await self.connection.fetchval(query("database_time"))

    async def declared_schedules(self, tenant_id: UUID) -> Sequence[StoredSchedule]:
        rows = await self.connection.fetch(query("declared_schedules"), tenant_id)
        return [
            StoredSchedule(schedule_of(row), row["account_id"], row["account_name"]) for row in rows
        ]

    async def save_schedule(self, schedule: Schedule) -> None:
        async with translated_unique_violations(schedule.label):
            await self.connection.execute(
                query("save_schedule"),
                schedule.id,
                *definition_values(schedule.definition),
                schedule.grant_id,
                schedule.deleted_at,
                schedule.revision,
                schedule.updated_at,
            )

    async def add_jobs(self, jobs: Sequence[SlotJob]) -> None:
        await self.connection.execute(
            query("add_jobs"),
            [UUID(job.queue_name) for job in jobs],
            [job.run_at for job in jobs],
            [bool(job.payload.get("is_manual")) for job in jobs],
            [job.payload.get("answer_to") for job in jobs],
        )

    async def remove_waiting_slot(self, schedule_id: UUID) -> None:
        await self.connection.execute(query("remove_waiting_slot"), schedule_id)

    async def remove_waiting_slots(self, schedule_id: UUID) -> None:
        await self.connection.execute(query("remove_waiting_slots"), schedule_id)

    async def running_runs(self, schedule_id: UUID) -> Sequence[ScheduleRun]:
        rows = await self.connection.fetch(query("running_runs"), schedule_id)
        return [schedule_run_of(row) for row in rows]

    async def lock_run(self, tenant_id: UUID, run_id: UUID) -> ScheduleRun:
        await self.connection.execute(query("lock_schedule_of_run"), tenant_id, run_id)
        row = await self.connection.fetchrow(query("lock_run"), tenant_id, run_id)
        if row is None:
            raise NotFound(f"no run {run_id}")
        return schedule_run_of(row)

    async def cancel_runs(self, run_ids: Sequence[UUID], reason: str) -> None:
        await self.connection.execute(query("cancel_runs"), run_ids, reason)
        await self.connection.execute(query("notify"), CHANNELS[Channel.CANCELLED])

    async def note_answer(self, run_id: UUID, answer: Any) -> None:
        await self.connection.execute(query("note_answer"), run_id, to_json(answer))

    async def _schedules(self, ids: Iterable[UUID]) -> Mapping[UUID, Schedule]:
        rows = await self.connection.fetch(query("get_schedules"), list(ids))
        return {row["id"]: schedule_of(row) for row in rows}

    async def _grants(self, ids: Iterable[UUID]) -> Mapping[UUID, Grant]:
        return await grants_by_id(self.connection, ids)


class PostgresSlotRows(PostgresScheduleRows):
    async def lock_due_slots(self, request: ClaimRequest, labels: Sequence[str]) -> DueSlots:
        busy = request.busy_tenants
        rows = await self.connection.fetch(
            query("lock_due_slots"),
            request.limit,
            request.ahead,
            list(labels),
            list(busy),
            list(busy.values()),
            request.per_tenant,
            TAKE_TURNS,
        )
        slots = await self._due([row for row in rows if row["schedule_id"] is not None])
        return DueSlots(rows[0]["now"], slots, rows[0]["next_due_at"])

    async def lock_broken_chains(self, grace: timedelta) -> tuple[datetime, Sequence[DueSlot]]:
        now = await self.connection.fetchval(query("database_time"))
        rows = await self.connection.fetch(query("lock_broken_chains"), grace)
        return now, await self._due(rows)

    async def _due(self, rows: Sequence[Row]) -> list[DueSlot]:
        if not rows:
            return []
        schedules = await self._schedules({row["schedule_id"] for row in rows})
        grants = await self._grants({schedule.grant_id for schedule in schedules.values()})
        return [
            DueSlot(
                schedule := schedules[row["schedule_id"]],
                row["slot_at"] or row["now"],
                grants.get(schedule.grant_id),
                is_manual=bool(row.get("is_manual")),
            )
            for row in rows
        ]

    async def take_lost_slots(self, request: ClaimRequest) -> Sequence[SlotClaim]:
        rows = await self.connection.fetch(
            query("take_lost_slots"), request.limit, request.lease, request.worker
        )
        return await self._claims(rows)

    async def skip_slots(self, skips: Sequence[tuple[DueSlot, SlotDecision, UUID]]) -> None:
        await self.connection.execute(
            query("skip_slots"),
            [due.schedule.id for due, _, _ in skips],
            [due.slot_at for due, _, _ in skips],
            [run_id for _, _, run_id in skips],
            [decision.skip_reason for _, decision, _ in skips],
            [decision.skipped_slots for _, decision, _ in skips],
        )

    async def start_slots(
        self, starts: Sequence[tuple[DueSlot, UUID]], request: ClaimRequest
    ) -> Sequence[SlotClaim]:
        replacing = [
            due.schedule.id
            for due, _ in starts
            if due.schedule.definition.concurrency is Concurrency.REPLACE
        ]
        if replacing and await self.connection.fetch(query("cancel_replaced"), replacing):
            await self.connection.execute(query("notify"), CHANNELS[Channel.CANCELLED])
        try:
            rows = await self.connection.fetch(
                query("start_slots"),
                [due.schedule.id for due, _ in starts],
                [due.slot_at for due, _ in starts],
                [run_id for _, run_id in starts],
                request.lease,
                request.worker,
            )
        except asyncpg.UniqueViolationError as error:  # one_run_at_a_time
            raise StoreUnavailable("another worker has just started this schedule") from error
        return await self._claims(rows)

    async def _claims(self, rows: Sequence[Row]) -> list[SlotClaim]:
        if not rows:
            return []
        schedules = await self._schedules({row["schedule_id"] for row in rows})
        grants = await self._grants({schedule.grant_id for schedule in schedules.values()})
        answered = {row["answer_to"] for row in rows if row["answer_to"] is not None}
        answers = await self.connection.fetch(query("answers_of"), answered) if answered else []
        resumes = {row["id"]: Resume(row["state"], from_json(row["answer"])) for row in answers}
        claims: list[SlotClaim] = []
        for row in rows:
            schedule = schedules[row["schedule_id"]]
            grant = grants.get(schedule.grant_id)
            claims.append(
                SlotClaim(
                    row["id"],
                    schedule,
                    grant.account_id if grant else schedule.id,
                    row["slot_at"],
                    row["epoch"],
                    row["attempt"],
                    row["is_manual"],
                    is_started=row["is_started"],
                    resume=resumes.get(row["answer_to"]),
                )
            )
        return claims

    async def renew_slots(self, claims: Sequence[SlotClaim], lease: timedelta) -> Renewal:
        rows = await self.connection.fetch(query("renew_slots"), *_keys(claims), lease)
        renewed = frozenset(row["id"] for row in rows)
        return Renewal(renewed, await self._held_but(renewed, claims, leased=True))

    async def _held_but(
        self, run_ids: AbstractSet[UUID], claims: Sequence[SlotClaim], *, leased: bool
    ) -> frozenset[UUID]:
        """Still ours, but passed over: somebody else has their rows."""
        missing = [claim for claim in claims if claim.run_id not in run_ids]
        if not missing:
            return frozenset()
        rows = await self.connection.fetch(query("slots_held"), *_keys(missing), leased)
        return frozenset(row["id"] for row in rows)

    async def lock_starting(
        self, claims: Sequence[SlotClaim]
    ) -> tuple[Sequence[Starting], frozenset[UUID]]:
        rows = await self.connection.fetch(query("lock_starting"), *_keys(claims))
        grants = await self._grants({row["grant_id"] for row in rows})
        requests = {claim.run_id: claim.request for claim in claims}
        starting = [
            Starting(requests[row["id"]], grants.get(row["grant_id"]), row["balance"])
            for row in rows
        ]
        locked = await self._held_but({row["id"] for row in rows}, claims, leased=True)
        return starting, locked

    async def note_started(self, claims: Sequence[SlotClaim]) -> None:
        await self.connection.execute(query("note_started"), [claim.run_id for claim in claims])

    async def close_slots(self, finished: Sequence[FinishedSlot]) -> ClosedSlots:
        claims = [slot.claim for slot in finished]
        schedules = await self.connection.fetch(
            query("lock_schedules_of_runs"), [claim.schedule.id for claim in claims]
        )
        ours = await self.connection.fetch(
            query("lock_ending"), *_keys(claims), [row["id"] for row in schedules]
        )
        ending = {row["id"] for row in ours}
        locked = await self._held_but(ending, claims, leased=False)
        finished = [slot for slot in finished if slot.claim.run_id in ending]
        if not finished:
            return ClosedSlots(frozenset(), locked)
        columns = zip(*(_values(slot) for slot in finished), strict=True)
        rows = await self.connection.fetch(query("close_slots"), *map(list, columns))
        stored = frozenset(row["id"] for row in rows)
        events = [
            (slot.claim, event)
            for slot in finished
            if slot.claim.run_id in stored
            for event in slot.events
        ]
        await self._add_events(events)
        next_slots = [row["next_slot_at"] for row in rows if row["next_slot_at"] is not None]
        return ClosedSlots(stored, locked, min(next_slots, default=None))

    async def add_run_events(self, claim: SlotClaim, events: Sequence[RunEvent]) -> None:
        await self._add_events([(claim, event) for event in events])

    async def _add_events(self, events: Sequence[tuple[SlotClaim, RunEvent]]) -> None:
        if not events:
            return
        await self.connection.execute(
            query("add_run_events"),
            [claim.run_id for claim, _ in events],
            [claim.tenant_id for claim, _ in events],
            [event.number for _, event in events],
            [event.at for _, event in events],
            [event.kind for _, event in events],
            [to_json(dict(event.data)) for _, event in events],
        )

    async def end_leases(self, claims: Sequence[SlotClaim]) -> None:
        await self.connection.execute(query("end_leases"), *_keys(claims))


def _keys(claims: Sequence[SlotClaim]) -> tuple[list[UUID], list[int]]:
    return [claim.run_id for claim in claims], [claim.epoch for claim in claims]


def _values(slot: FinishedSlot) -> tuple[Any, ...]:
    """One result, in the order of close_slots."""
    result = slot.result
    return (
        slot.claim.run_id,
        slot.claim.epoch,
        slot.status,
        slot.started_at,
        None if result.output is None else to_json(result.output),
        result.error,
        None if result.message is None else to_text(result.message),
        to_text(result.last_lines),
        slot.reason,
        None if result.question is None else to_json(result.question),
        result.state,
    )
