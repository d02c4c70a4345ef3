"""What becomes of a slot that is due: started, skipped, and which one follows it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.domain.grant import EXECUTE_ANY, Grant, GrantRefusal
from cadenza.domain.schedule import Schedule, ScheduleDefinition
from cadenza.domain.slot import GRACE, DueSlot, SkipReason, SlotDecision, decide, job_key
from tests.factories import CRON, NOON, minutes, seconds

SCHEDULE_ID, TENANT_ID, USER_ID = UUID(int=1), UUID(int=2), UUID(int=3)
GRANT = Grant(UUID(int=4), TENANT_ID, USER_ID, UUID(int=5), (EXECUTE_ANY,), NOON - minutes(60))


def due(
    slot_at: datetime = NOON,
    cron: str = "*/5 * * * *",
    zone: str = "UTC",
    grant: Grant | None = GRANT,
    ended_at: datetime | None = None,
    *,
    is_manual: bool = False,
) -> DueSlot:
    definition = ScheduleDefinition("python:shop:digest", cron, zone)
    schedule = Schedule(
        SCHEDULE_ID,
        TENANT_ID,
        USER_ID,
        GRANT.id,
        definition,
        NOON,
        NOON,
        last_ended_at=ended_at,
    )
    return DueSlot(schedule, slot_at, grant, is_manual)


def test_a_slot_on_time_starts_and_the_next_one_follows() -> None:
    assert decide(due(), NOON, CRON) == SlotDecision(NOON + minutes(5))


def test_a_slot_claimed_a_moment_ahead_is_followed_by_the_one_after_it() -> None:
    early = NOON - timedelta(milliseconds=200)
    assert decide(due(), early, CRON).next_at == NOON + minutes(5)


def test_a_slot_may_start_late_within_its_grace() -> None:
    assert decide(due(), NOON + GRACE, CRON).skip_reason is None


def test_three_days_of_downtime_leave_one_slot_ahead_and_a_number() -> None:
    now = NOON + timedelta(days=3, seconds=1)
    decision = decide(due(cron="0 * * * *"), now, CRON)
    assert decision == SlotDecision(now - seconds(1) + minutes(60), SkipReason.MISSED, 73)


def test_a_slot_behind_a_long_run_gives_way_to_the_latest_one() -> None:
    """12:00 ran until 12:13; 12:05 has waited, and 12:10 is due: 12:05 is skipped."""
    now = NOON + minutes(13)
    decision = decide(due(NOON + minutes(5), ended_at=now - seconds(1)), now, CRON)
    assert decision == SlotDecision(NOON + minutes(10), SkipReason.STILL_RUNNING, 1)


def test_a_slot_behind_a_long_run_starts_where_none_came_after_it() -> None:
    now = NOON + minutes(9)
    decision = decide(due(NOON + minutes(5), ended_at=now - seconds(1)), now, CRON)
    assert decision == SlotDecision(NOON + minutes(10))


@pytest.mark.parametrize(
    ("grant", "reason"),
    [
        (None, GrantRefusal.MISSING),
        (replace(GRANT, revoked_at=NOON, expires_at=NOON), GrantRefusal.REVOKED),
        (replace(GRANT, expires_at=NOON, scopes=("graph:execute:python:a",)), GrantRefusal.EXPIRED),
        (replace(GRANT, scopes=("graph:execute:python:a",)), GrantRefusal.SCOPE),
    ],
)
def test_a_grant_that_is_not_good_skips_the_slot_and_the_chain_goes_on(
    grant: Grant | None, reason: GrantRefusal
) -> None:
    assert decide(due(grant=grant), NOON, CRON) == SlotDecision(NOON + minutes(5), reason, 1)


def test_what_a_person_asked_for_has_no_next_slot() -> None:
    assert decide(due(is_manual=True), NOON + minutes(30), CRON) == SlotDecision(None)


@given(late=st.integers(0, 40_000), ran=st.integers(0, 40_000) | st.none())
def test_the_next_slot_is_never_one_that_was_decided_about(late: int, ran: int | None) -> None:
    now = NOON + seconds(late)
    ended_at = None if ran is None else NOON + seconds(min(ran, late))
    decision = decide(due(ended_at=ended_at), now, CRON)
    assert decision.next_at is not None
    assert decision.next_at > NOON
    if decision.skip_reason is SkipReason.STILL_RUNNING:
        assert NOON + minutes(5) * decision.skipped_slots == decision.next_at
    else:
        assert decision.next_at > now
    if decision.skip_reason is SkipReason.MISSED:
        assert NOON + minutes(5) * decision.skipped_slots == decision.next_at


@pytest.mark.parametrize(
    ("zone", "before", "after"),
    [
        ("Europe/Paris", "2026-03-28T02:30", "2026-03-29T03:00"),  # 02:30 is not: right after
        ("America/New_York", "2026-03-07T02:30", "2026-03-08T03:00"),
        ("Australia/Lord_Howe", "2026-10-03T02:15", "2026-10-04T02:30"),  # half an hour
        ("Europe/Paris", "2026-10-24T02:30", "2026-10-25T02:30"),  # it is twice: once
    ],
)
def test_daylight_saving_days(zone: str, before: str, after: str) -> None:
    here = ZoneInfo(zone)
    slot_at = datetime.fromisoformat(before).replace(tzinfo=here).astimezone(UTC)
    clock_time = before.split("T")[1].split(":")
    cron = f"{int(clock_time[1])} {int(clock_time[0])} * * *"
    decision = decide(due(slot_at, cron, zone), slot_at, CRON)
    assert decision.next_at is not None
    assert decision.next_at.astimezone(here).strftime("%Y-%m-%dT%H:%M") == after
    following = decide(due(decision.next_at, cron, zone), decision.next_at, CRON)
    assert following.next_at is not None
    assert following.next_at - decision.next_at > timedelta(hours=22)


def test_the_key_of_a_slot_is_its_schedule_and_utc_instant() -> None:
    assert job_key(SCHEDULE_ID, NOON) == f"{SCHEDULE_ID}:2026-03-02T12:00:00Z"
