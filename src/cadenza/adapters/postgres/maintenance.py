"""Days of runs, made ahead and dropped when they are old; and the same for everything else kept.

Making or dropping a day needs a lock that claims would queue behind. It is asked for briefly and
given up at once where it is not to be had; the next round tries again.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import asyncpg

from cadenza.adapters.postgres.database import Connection, Database, limit_silence
from cadenza.adapters.postgres.queries import query

LOCK = 0x0CADE27B
DAYS_AHEAD = 7
BATCH = 5000
PATIENCE = "50ms"
LONGEST_ROUND = "1h"
KEEP_IDEMPOTENCY_KEYS = timedelta(days=1)
KEEP_COUNTS = timedelta(days=2)
KEEP_WORKERS = timedelta(days=1)  # that are gone, with the graphs that they knew
KEEP_ANNOUNCEMENTS = timedelta(days=8)  # longer than the longest cooldown
KEEP_RESULTS = timedelta(days=2)  # that are reported: a run may wait for a day
LONGEST_STEP = "1s"  # making a day reads the default partition, while claims wait
KEPT_BY_AGE = (
    ("analysis_sessions", "started_at"),
    ("failed_runs", "slot_at"),
    ("run_attempts", "noted_at"),
    ("late_results", "received_at"),
    ("events", "at"),
    ("audit_log", "at"),
    ("grant_uses", "at"),
    ("job_quotas", "begun_at"),
    ("steering_history", "until_at"),
    ("incidents", "resolved_at"),
    ("deliveries", "created_at"),
    ("asked_runs", "slot_at"),
)
# Not now, or not here: it stays as it is, and its rows are in the default partition.
NOT_TO_BE_HAD = (
    asyncpg.LockNotAvailableError,
    asyncpg.QueryCanceledError,
    asyncpg.CheckViolationError,
    asyncpg.DuplicateTableError,
    asyncpg.InvalidObjectDefinitionError,  # a partition that somebody made covers the day
)


@dataclass(frozen=True, slots=True)
class Round:
    """What one round of maintenance did."""

    days_made: int = 0
    days_dropped: int = 0
    rows_deleted: int = 0


class Maintenance:
    def __init__(self, database: Database, retention: timedelta) -> None:
        self._database = database
        self._retention = retention

    async def run_once(self) -> Round:
        """One round; where another program is at it, nothing is done."""
        async with self._database.transaction() as guard:
            # A transaction's lock: behind a pooler a session's would never be given back.
            if not await guard.fetchval("SELECT pg_try_advisory_xact_lock($1)", LOCK):
                return Round()
            await limit_silence(guard, LONGEST_ROUND)
            async with self._database.connection() as connection:
                return await self._round(connection)

    async def _round(self, connection: Connection) -> Round:
        now: datetime = await connection.fetchval(query("database_time"))
        made = await _make_days(connection, now.date())
        dropped = await _drop_days(connection, (now - self._retention).date())
        deleted = await self._delete_old(connection, now)
        return Round(made, dropped, deleted)

    async def _delete_old(self, connection: Connection, now: datetime) -> int:
        """Rows that are past their time, a batch at a time, so that nobody waits for long."""
        oldest = now - self._retention
        statements = [
            (query("delete_old_default_runs"), oldest),
            (query("delete_short_lived_runs"), now),
            (_delete_by_age("idempotency_keys", "at"), now - KEEP_IDEMPOTENCY_KEYS),
            (_delete_by_age("run_counts", "since"), now - KEEP_COUNTS),
            (_delete_by_age("workers", "seen_at"), now - KEEP_WORKERS),
            (_delete_by_age("announcements", "changed_at"), now - KEEP_ANNOUNCEMENTS),
            (_delete_by_age("awaited_results", "created_at"), now - KEEP_RESULTS),
        ]
        for table in KEPT_BY_AGE:
            statements += [(_delete_by_age(*table), oldest), (_delete_short_lived(*table), now)]
        return sum([await _in_batches(connection, *statement) for statement in statements])


def _delete_by_age(table: str, column: str) -> str:
    return (
        f"DELETE FROM {table} WHERE ctid = ANY (ARRAY("  # noqa: S608 - names from above
        f"SELECT ctid FROM {table} WHERE {column} < $1 LIMIT {BATCH}))"
    )


def _delete_short_lived(table: str, column: str) -> str:
    """The same for tenants that keep theirs for a shorter time than everybody else."""
    return (
        f"DELETE FROM {table} WHERE ctid = ANY (ARRAY("  # noqa: S608 - names from above
        f"SELECT kept.ctid FROM tenants JOIN {table} AS kept ON kept.tenant_id = tenants.id"
        f" WHERE kept.{column} < $1::timestamptz - make_interval(days => tenants.retention_days)"
        f" LIMIT {BATCH}))"
    )


async def _in_batches(connection: Connection, statement: str, before: datetime) -> int:
    total = 0
    while True:
        done = int((await connection.execute(statement, before)).split()[-1])
        total += done
        if done < BATCH:
            return total


async def _make_days(connection: Connection, today: date) -> int:
    """Partitions from yesterday to a week ahead; a day whose rows went elsewhere is left there."""
    present = {day for day, _ in await _days(connection)}
    days = [today + timedelta(days=ahead) for ahead in range(-1, DAYS_AHEAD + 1)]
    made = [await _quickly(connection, _new_day(day)) for day in days if day not in present]
    return sum(made)


def _new_day(day: date) -> str:
    begins = datetime(day.year, day.month, day.day, tzinfo=UTC)
    ends = begins + timedelta(days=1)
    return (
        f"CREATE TABLE runs_{day:%Y%m%d} PARTITION OF runs"
        f" FOR VALUES FROM ('{begins.isoformat()}') TO ('{ends.isoformat()}')"
        # Every run leaves a dead row behind: room for the next ones, once it is vacuumed. A server
        # that crashes forgets how many there are, so it does not wait for many.
        " WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01)"
    )


async def _drop_days(connection: Connection, oldest: date) -> int:
    names = [name for day, name in await _days(connection) if day < oldest]
    return sum([await _quickly(connection, f"DROP TABLE {name}") for name in names])


async def _quickly(connection: Connection, statement: str) -> bool:
    """Do it, if that takes no longer than claims may wait; whether it was done."""
    try:
        async with connection.transaction():
            await connection.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'")
            await connection.execute(f"SET LOCAL statement_timeout = '{LONGEST_STEP}'")
            await connection.execute(statement)
    except NOT_TO_BE_HAD:
        return False
    return True


async def _days(connection: Connection) -> list[tuple[date, str]]:
    """The partitions that are days of ours; whatever else hangs there is left alone."""
    rows = await connection.fetch(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits"
        " WHERE inhparent = 'runs'::regclass ORDER BY 1"
    )
    named = [re.fullmatch(r"runs_(\d{4})(\d\d)(\d\d)", row["name"]) for row in rows]
    return [(date(*map(int, match.groups())), match[0]) for match in named if match]
