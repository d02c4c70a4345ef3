"""Millions of runs to read, of a hundred tenants of very different size; and keys to read with."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from benchmarks.stage import Stage
from cadenza.adapters.postgres.migrate import migrations
from cadenza.domain.access import hash_of, token_of

TENANTS = 100
DAYS = 5
AT_ONCE = 500_000
PLAN = (
    '{"source": "baseline-interval", "winner": "baseline-interval", "inputs": {"now":'
    ' "2026-03-01T12:00:00Z", "after_run": true, "anchor_at": "2026-03-01T11:59:00Z"},'
    ' "next_run_at": "2026-03-01T12:00:00Z", "candidates": [{"source": "baseline-interval",'
    ' "at": "2026-03-01T12:00:00Z"}]}'
)
# Of $3 runs those from $1 to $2: a fifth is the largest tenant's, a three-hundredth the smallest's.
RUNS = """
INSERT INTO runs (id, endpoint_id, tenant_id, slot_at, source, status, attempt, epoch, is_manual,
                  claimed_at, started_at, finished_at, status_code, body, plan)
SELECT lpad(to_hex(i), 32, '0')::uuid,
       md5('e' || (tenant + $5::int * (i % ($6::int / $5::int))))::uuid,
       md5('t' || tenant)::uuid,
       slot_at,
       CASE WHEN i % 20 = 3 THEN 'ai-interval' ELSE 'baseline-interval' END,
       CASE WHEN i % 50021 = 7 THEN 'cancelled' WHEN i % 53 = 1 THEN 'failure'
            WHEN i % 101 = 2 THEN 'timeout' ELSE 'success' END,
       1, 1, i % 10000 = 9, slot_at, slot_at, slot_at + interval '40 milliseconds', 200,
       '{"depth": 3}', $7::json
FROM (
    SELECT i, floor($5::int * power(i * 0.6180339887498949::numeric % 1, 3))::int AS tenant,
           $4::timestamptz + i * (interval '1 day' * $8::int / $3::float8) AS slot_at
    FROM generate_series($1::bigint, $2::bigint) AS i
) AS spread
"""


async def add_history(here: Stage, runs: int, endpoints: int, tenants: int = TENANTS) -> None:
    """Evenly over some days, each its own partition, as maintenance makes them day by day."""
    now: datetime = await here.value("SELECT cadenza_now()")
    begins = now - timedelta(days=DAYS)
    for day in range(DAYS):
        await _add_day(here, begins + timedelta(days=day))
    for first in range(0, runs, AT_ONCE):
        last = min(first + AT_ONCE, runs) - 1
        await here.execute(
            RUNS,
            first, last, float(runs), begins, tenants, endpoints, PLAN, DAYS,
        )  # fmt: skip
    ended_before = next(
        migration for migration in migrations() if migration.name == "runs_ended_before"
    )
    await here.execute(ended_before.sql)
    await here.execute("VACUUM ANALYZE runs, failed_runs, run_counts")


async def _add_day(here: Stage, day: datetime) -> None:
    begins = day.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    ends = begins + timedelta(days=1)
    await here.execute(
        f"CREATE TABLE IF NOT EXISTS runs_{begins:%Y%m%d} PARTITION OF runs"
        f" FOR VALUES FROM ('{begins.isoformat()}') TO ('{ends.isoformat()}')"
        " WITH (fillfactor = 80)"
    )


async def add_keys(here: Stage, count: int = TENANTS) -> list[dict[str, Any]]:
    """A key for each tenant, the largest first; with one of its endpoints."""
    tenants: list[dict[str, Any]] = []
    for number in range(count):
        key_id = UUID(int=number + 1)
        token = token_of(key_id, "s" * 43)
        tenant_id = await here.value(
            "WITH ann AS (INSERT INTO users (id, tenant_id, name)"
            " VALUES ($1, md5('t' || $2::int)::uuid, 'ann') RETURNING id, tenant_id)"
            " INSERT INTO api_keys (id, tenant_id, user_id, name, scopes, hash)"
            " SELECT $1, tenant_id, id, 'bench', '{admin}', $3 FROM ann RETURNING tenant_id",
            key_id, number, hash_of(token),
        )  # fmt: skip
        endpoint_id = await here.value("SELECT md5('e' || $1::int)::uuid", number)
        headers = {"Authorization": f"Bearer {token}"}
        known = {"id": tenant_id, "headers": headers, "endpoint_id": str(endpoint_id)}
        tenants.append({**known, "token": token})
    return tenants
