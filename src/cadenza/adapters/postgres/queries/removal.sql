-- What is deleted for good. Nothing here looks at tenants: the endpoints were found by theirs.

-- name: lock_archived_endpoints
-- The endpoints of a job that were archived at an instant or later, as everybody locks them.
SELECT cadenza_now() AS now, e.*
FROM endpoint_states AS e
WHERE e.tenant_id = $1 AND e.job_id = $2 AND e.archived_at >= $3
ORDER BY e.id
FOR UPDATE OF e

-- name: count_history
-- How many runs and sessions these endpoints have, so many at most.
SELECT count(*) FROM (
    (SELECT FROM runs WHERE endpoint_id = ANY ($1::uuid[]) LIMIT $2)
    UNION ALL
    (SELECT FROM analysis_sessions WHERE endpoint_id = ANY ($1::uuid[]) LIMIT $2)
) AS kept

-- name: delete_runs_of_endpoints
-- Runs that have ended, with all that hangs on them, so many at most.
WITH old AS MATERIALIZED (
    SELECT endpoint_id, slot_at FROM runs
    WHERE endpoint_id = ANY ($1::uuid[]) AND status <> 'running'
    LIMIT $2
),
gone AS (
    DELETE FROM runs USING old
    WHERE runs.endpoint_id = old.endpoint_id AND runs.slot_at = old.slot_at
    RETURNING runs.id, runs.tenant_id, runs.endpoint_id, runs.slot_at
),
gone_failures AS (
    DELETE FROM failed_runs USING gone
    WHERE failed_runs.tenant_id = gone.tenant_id AND failed_runs.endpoint_id = gone.endpoint_id
      AND failed_runs.slot_at = gone.slot_at
),
gone_attempts AS (DELETE FROM run_attempts USING gone WHERE run_attempts.run_id = gone.id)
SELECT count(*) FROM gone

-- name: delete_late_results_of_endpoints
-- Results that came too late, so many at most.
WITH gone AS (
    DELETE FROM late_results
    WHERE id = ANY (ARRAY(
        SELECT id FROM late_results WHERE endpoint_id = ANY ($1::uuid[]) LIMIT $2
    ))
    RETURNING id
)
SELECT count(*) FROM gone

-- name: delete_sessions_of_endpoints
-- Sessions about them, so many at most.
WITH gone AS (
    DELETE FROM analysis_sessions
    WHERE id = ANY (ARRAY(
        SELECT id FROM analysis_sessions WHERE endpoint_id = ANY ($1::uuid[]) LIMIT $2
    ))
    RETURNING id
)
SELECT count(*) FROM gone

-- name: delete_endpoints
-- Endpoints, with what planners remember of them.
DELETE FROM endpoints WHERE id = ANY ($1::uuid[])

-- name: delete_job
-- A job, with its endpoints.
DELETE FROM jobs WHERE id = $1
