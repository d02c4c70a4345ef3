-- How much runs, and how. So many of the newest runs are read, by an index, and counted.
--   Rows are by width and family; where the family is null, they are for all of a width.

-- name: activity_of_tenant
-- The newest runs of a tenant, counted.
--   $1 tenant  $2 from  $3 to  $4 width  $5 how many runs
WITH run AS MATERIALIZED (
    SELECT r.slot_at, r.status, r.started_at, r.finished_at,
           run_family(r.source, r.is_manual, r.plan) AS family
    FROM runs AS r
    WHERE r.tenant_id = $1 AND r.slot_at >= $2 AND r.slot_at < $3
    ORDER BY r.slot_at DESC
    LIMIT $5
)
SELECT date_bin($4::interval, slot_at, $2) AS from_at, family, count(*) AS runs,
       count(*) FILTER (WHERE status = 'failure') AS failed,
       count(*) FILTER (WHERE status = 'timeout') AS timed_out,
       count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
       count(*) FILTER (WHERE status = 'running') AS running,
       min(slot_at) AS first_at,
       percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY started_at - slot_at) AS late,
       percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY finished_at - started_at) AS took
FROM run
GROUP BY GROUPING SETS ((1), (1, 2))
ORDER BY 1, 2

-- name: activity_of_endpoints
-- The newest runs of a few endpoints, each read by its key, counted.
--   $1 endpoints  $2 from  $3 to  $4 width  $5 how many runs of each
WITH run AS MATERIALIZED (
    SELECT run.*
    FROM unnest($1::uuid[]) AS own (id)
    CROSS JOIN LATERAL (
        SELECT r.slot_at, r.status, r.started_at, r.finished_at,
               run_family(r.source, r.is_manual, r.plan) AS family
        FROM runs AS r
        WHERE r.endpoint_id = own.id AND r.slot_at >= $2 AND r.slot_at < $3
        ORDER BY r.slot_at DESC
        LIMIT $5
    ) AS run
)
SELECT date_bin($4::interval, slot_at, $2) AS from_at, family, count(*) AS runs,
       count(*) FILTER (WHERE status = 'failure') AS failed,
       count(*) FILTER (WHERE status = 'timeout') AS timed_out,
       count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
       count(*) FILTER (WHERE status = 'running') AS running,
       min(slot_at) AS first_at,
       percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY started_at - slot_at) AS late,
       percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY finished_at - started_at) AS took
FROM run
GROUP BY GROUPING SETS ((1), (1, 2))
ORDER BY 1, 2

-- name: job_strips
-- The newest runs of a tenant, counted by job.
--   $1 tenant  $2 from  $3 width  $4 jobs  $5 how many runs
WITH run AS MATERIALIZED (
    SELECT r.endpoint_id, r.slot_at, r.status,
           run_family(r.source, r.is_manual, r.plan) AS family
    FROM runs AS r
    WHERE r.tenant_id = $1 AND r.slot_at >= $2
    ORDER BY r.slot_at DESC
    LIMIT $5
),
reached AS (SELECT min(slot_at) AS known_from FROM run HAVING count(*) = $5)
SELECT e.job_id, date_bin($3::interval, run.slot_at, $2) AS from_at, run.family,
       count(*) AS runs,
       count(*) FILTER (WHERE run.status = 'failure') AS failed,
       count(*) FILTER (WHERE run.status = 'timeout') AS timed_out,
       count(*) FILTER (WHERE run.status = 'cancelled') AS cancelled,
       count(*) FILTER (WHERE run.status = 'running') AS running,
       (SELECT known_from FROM reached) AS known_from
FROM run
JOIN endpoints AS e ON e.id = run.endpoint_id
WHERE e.job_id = ANY ($4::uuid[])
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3

-- name: states_of_jobs
-- How many endpoints are in which state, by job.
--   $1 tenant  $2 jobs; null for all  $3 whether all together
SELECT CASE WHEN NOT $3 THEN e.job_id END AS job_id,
       count(*) AS total,
       count(*) FILTER (WHERE NOT (is_failing OR is_late OR is_paused OR is_hinted)) AS ok,
       count(*) FILTER (WHERE is_failing) AS failing,
       count(*) FILTER (WHERE is_late) AS late,
       count(*) FILTER (WHERE is_paused) AS paused,
       count(*) FILTER (WHERE is_hinted) AS hinted
FROM (SELECT cadenza_now() AS now) AS clock
CROSS JOIN LATERAL (
    SELECT e.job_id,
           e.failure_count > 0 AS is_failing,
           coalesce(e.next_run_at < clock.now - interval '10 seconds'
                    AND e.running_slot_at IS NULL, false) AS is_late,
           coalesce(greatest(e.person_paused_until, e.planner_paused_until, e.job_paused_until)
                    > clock.now, false) AS is_paused,
           coalesce(greatest(e.hint_interval_expires_at, e.hint_run_expires_at) > clock.now, false)
               AS is_hinted
    FROM endpoints AS e
    WHERE e.tenant_id = $1
      AND e.archived_at IS NULL
      AND ($2::uuid[] IS NULL OR e.job_id = ANY ($2))
) AS e
GROUP BY 1

-- name: sessions_by_day
-- What planners spent, by day.
SELECT (started_at AT TIME ZONE 'UTC')::date AS day, count(*) AS sessions,
       sum(tokens)::bigint AS tokens, sum(cost) AS cost
FROM analysis_sessions
WHERE tenant_id = $1 AND started_at >= $2 AND ($3::uuid[] IS NULL OR job_id = ANY ($3))
GROUP BY 1
ORDER BY 1

-- name: idle_looks
-- How often a brain looked at a tenant's endpoints and found nothing to do.
SELECT coalesce(sum(looks.idle_looks), 0)::bigint
FROM endpoints
JOIN looks ON looks.endpoint_id = endpoints.id
WHERE endpoints.tenant_id = $1 AND ($2::uuid[] IS NULL OR endpoints.job_id = ANY ($2))
