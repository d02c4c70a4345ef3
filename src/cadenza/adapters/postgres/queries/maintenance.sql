-- The clock, notifications, workers that live, and old rows.

-- name: database_time
-- What time it is, by the only clock that counts.
SELECT cadenza_now()

-- name: notify
-- Wake whoever listens on a channel.
SELECT pg_notify($1, '')

-- name: beat
-- A worker lives.
INSERT INTO workers (name, kind) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, seen_at = cadenza_now()

-- name: worker_left
-- A worker has ended as it should.
DELETE FROM workers WHERE name = $1

-- name: workers_alive
-- How many workers of each kind have been seen within a while.
SELECT kind, count(*) AS count
FROM workers
WHERE seen_at > cadenza_now() - $1::interval
GROUP BY kind

-- name: delete_old_default_runs
-- Old runs in the partition that no day owns, a batch at a time.
DELETE FROM runs_default
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM runs_default
    WHERE slot_at < $1 AND status <> 'running'
    LIMIT 5000
))

-- name: delete_short_lived_runs
-- Runs of tenants that keep theirs for a shorter time than everybody else, a batch at a time.
DELETE FROM runs
USING (
    SELECT old.endpoint_id, old.slot_at
    FROM tenants
    JOIN endpoints ON endpoints.tenant_id = tenants.id
    CROSS JOIN LATERAL (
        SELECT runs.endpoint_id, runs.slot_at
        FROM runs
        WHERE runs.endpoint_id = endpoints.id
          AND runs.slot_at < $1::timestamptz - make_interval(days => tenants.retention_days)
          AND runs.status <> 'running'
        LIMIT 5000
    ) AS old
    WHERE tenants.retention_days IS NOT NULL
    LIMIT 5000
) AS old
WHERE runs.endpoint_id = old.endpoint_id AND runs.slot_at = old.slot_at
