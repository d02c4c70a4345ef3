-- The clock, notifications, workers that live, and old rows.

-- name: database_time
-- What time it is, by the only clock that counts.
SELECT cadenza_now()

-- name: notify
-- Wake whoever listens on a channel.
SELECT pg_notify($1, '')

-- name: beat
-- A worker lives; a row that no transaction has replaced is new.
INSERT INTO workers (name, kind, version, in_flight, capacity) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (name) DO UPDATE
SET kind = excluded.kind, version = excluded.version, in_flight = excluded.in_flight,
    capacity = excluded.capacity, seen_at = cadenza_now()
RETURNING xmax = 0 AS is_new

-- name: announce_labels
-- What a worker has.
UPDATE workers SET labels = $2 WHERE name = $1

-- name: announce_graphs
-- The graphs of a worker, in place of those before.
WITH gone AS (
    DELETE FROM worker_graphs WHERE worker = $1 AND graph_id <> ALL ($2::text[])
)
INSERT INTO worker_graphs (worker, graph_id, problem, input_schema)
SELECT w.name, graph.*
FROM workers AS w, unnest($2::text[], $3::text[], $4::jsonb[]) AS graph
WHERE w.name = $1
ON CONFLICT (worker, graph_id) DO UPDATE
SET problem = excluded.problem, input_schema = excluded.input_schema

-- name: list_graphs
-- Graphs after one of them, each with every worker that has announced it.
--   $1 when a worker is gone  $2 after this one  $3 how many
SELECT g.*, w.labels, w.seen_at, w.seen_at > cadenza_now() - $1::interval AS is_alive
FROM (
    SELECT DISTINCT graph_id FROM worker_graphs
    WHERE $2::text IS NULL OR graph_id > $2
    ORDER BY graph_id
    LIMIT $3
) AS page
JOIN worker_graphs AS g USING (graph_id)
JOIN workers AS w ON w.name = g.worker
ORDER BY g.graph_id, w.name COLLATE "C"

-- name: find_graphs
-- Graphs by their ids, each with every worker that has announced it.
--   $1 when a worker is gone  $2 the ids
SELECT g.*, w.labels, w.seen_at, w.seen_at > cadenza_now() - $1::interval AS is_alive
FROM worker_graphs AS g
JOIN workers AS w ON w.name = g.worker
WHERE g.graph_id = ANY ($2::text[])
ORDER BY g.graph_id, w.name COLLATE "C"

-- name: list_workers
-- Those that live first.
--   $1 when a worker is gone  $2 how many
SELECT name, kind, started_at, seen_at, seen_at > cadenza_now() - $1::interval AS is_alive,
       version, in_flight, capacity, labels
FROM workers
ORDER BY is_alive DESC, kind, name COLLATE "C"
LIMIT $2

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
