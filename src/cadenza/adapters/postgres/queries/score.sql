-- What the score of a job is drawn from. Every statement is for all lanes at once, and each lane is
-- read by the key of runs (endpoint, slot).

-- name: lanes_of_job
-- The endpoints of a job by name, with their plans.
--   $1 tenant  $2 job  $3 these alone, archived or not  $4, $5 name and id of the last one before
--   $6 how many
SELECT cadenza_now() AS now, e.*
FROM endpoint_states AS e
WHERE e.tenant_id = $1
  AND e.job_id = $2
  AND CASE WHEN $3::uuid[] IS NULL THEN e.archived_at IS NULL ELSE e.id = ANY ($3) END
  AND ($5::uuid IS NULL OR (e.name, e.id) > ($4::text, $5))
ORDER BY e.name, e.id
LIMIT $6

-- name: count_lanes
-- How many there are in all.
SELECT count(*) FROM endpoints AS e
WHERE e.tenant_id = $1
  AND e.job_id = $2
  AND CASE WHEN $3::uuid[] IS NULL THEN e.archived_at IS NULL ELSE e.id = ANY ($3) END

-- name: count_lane_runs
-- How many runs each lane has, counted to a limit.
--   $1 endpoints  $2 from  $3 to  $4 the limit
SELECT own.id, few.runs
FROM unnest($1::uuid[]) AS own (id)
CROSS JOIN LATERAL (
    SELECT count(*) AS runs
    FROM (
        SELECT FROM runs AS r
        WHERE r.endpoint_id = own.id AND r.slot_at >= $2 AND r.slot_at < $3
        LIMIT $4
    ) AS counted
) AS few

-- name: lane_runs
-- The runs of each lane, oldest slot first. For thousands of them it counts what a column costs the
-- reader: a lane's number is less than its id, and seconds (exact to the microsecond until 2242)
-- become an instant in half the time that the driver takes to make one. Whether a hint tightened or
-- relaxed is left to the reader, too: run_family() takes 16 microseconds for a run to find that out.
--   $1 endpoints  $2 from  $3 to
SELECT own.number, run.*
FROM unnest($1::uuid[]) WITH ORDINALITY AS own (id, number)
CROSS JOIN LATERAL (
    SELECT r.id, date_part('epoch', r.slot_at), r.source, r.is_manual,
           CASE WHEN r.source = 'ai-interval' THEN r.plan ->> 'candidates' END, r.status,
           r.attempt, date_part('epoch', r.started_at),
           floor(extract(epoch FROM r.finished_at - r.started_at) * 1000)::bigint,
           r.status_code, r.error_kind, left(r.error_message, 120), r.skipped_slots,
           CASE WHEN r.source NOT LIKE 'baseline-%' THEN (r.plan ->> 'session_id')::uuid END
    FROM runs AS r
    WHERE r.endpoint_id = own.id AND r.slot_at >= $2 AND r.slot_at < $3
    ORDER BY r.slot_at
) AS run

-- name: lane_buckets
-- The runs of each lane, counted by width and family; so many of the newest.
--   $1 endpoints  $2 from  $3 to  $4 width  $5 how many of each
SELECT own.id, date_bin($4::interval, run.slot_at, $2), run.family, count(*),
       count(*) FILTER (WHERE run.status = 'failure'),
       count(*) FILTER (WHERE run.status = 'timeout'),
       min(run.slot_at)
FROM unnest($1::uuid[]) AS own (id)
CROSS JOIN LATERAL (
    SELECT r.slot_at, r.status, run_family(r.source, r.is_manual, r.plan) AS family
    FROM runs AS r
    WHERE r.endpoint_id = own.id AND r.slot_at >= $2 AND r.slot_at < $3
    ORDER BY r.slot_at DESC
    LIMIT $5
) AS run
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3

-- name: suggesting_sessions_of_lanes
-- The newest sessions about these endpoints that suggested something.
--   $1 endpoints  $2 from  $3 to  $4 how many
SELECT s.*
FROM unnest($1::uuid[]) AS own (id)
CROSS JOIN LATERAL (
    SELECT * FROM analysis_sessions
    WHERE endpoint_id = own.id AND started_at >= $2 AND started_at < $3
      AND suggests_until IS NOT NULL
    ORDER BY started_at DESC
    LIMIT $4
) AS s
ORDER BY s.started_at DESC
LIMIT $4

-- name: recent_bodies
-- What each of these endpoints answered last, newest first.
--   $1 endpoints  $2 how many of each  $3 the longest that is read, in bytes as it is stored
SELECT own.id, run.body
FROM unnest($1::uuid[]) AS own (id)
CROSS JOIN LATERAL (
    SELECT r.slot_at, CASE WHEN pg_column_size(r.body) <= $3 THEN r.body::text END AS body
    FROM runs AS r
    WHERE r.endpoint_id = own.id AND r.status <> 'running'
    ORDER BY r.slot_at DESC
    LIMIT $2
) AS run
WHERE run.body IS NOT NULL
ORDER BY own.id, run.slot_at DESC

-- name: answer_values
-- What stands at a path of an endpoint's answers, by time; where there are many, every nth.
--   $1 endpoint  $2 path  $3 from  $4 to  $5 how many  $6 the longest body that is read, in bytes
WITH slots AS MATERIALIZED (
    SELECT slot_at, row_number() OVER (ORDER BY slot_at) AS n, count(*) OVER () AS total
    FROM (
        SELECT r.slot_at FROM runs AS r
        WHERE r.endpoint_id = $1 AND r.slot_at >= $3 AND r.slot_at < $4
        ORDER BY r.slot_at DESC
        LIMIT 20000
    ) AS newest
)
SELECT run.slot_at, run.value #>> '{}' AS value
FROM slots
CROSS JOIN LATERAL (
    SELECT r.slot_at, CASE WHEN pg_column_size(r.body) <= $6 THEN r.body #> $2::text[] END AS value
    FROM runs AS r
    WHERE r.endpoint_id = $1 AND r.slot_at = slots.slot_at
) AS run
WHERE slots.n % greatest(1, ceil(slots.total::float8 / $5::int)::bigint) = 0
  AND json_typeof(run.value) = 'number'
ORDER BY run.slot_at
