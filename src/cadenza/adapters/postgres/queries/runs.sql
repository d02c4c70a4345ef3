-- Runs, as their owners look for them.
--
-- A search reads so many of the newest keys in their order and says of each whether it is wanted,
-- which no index can tell; then it looks up the rows of those that are. Every row of the answer
-- begins with how many keys were read and where that led to, so that the next step can go on there.
--   $1 tenant  $2 endpoints  $3 from  $4, $5 slot and id of the last one before
--   $6 how many keys  $7 how many runs  $8 statuses  $9 sources  $10 whether asked for by a person
--   $11 a piece of the error  $12 status code
-- Failed runs have statements of their own: one statement over both tables took twice as long.
-- Endpoints are a subquery: by the length of an array each search would be planned anew.
-- The upper end is given twice: the slot alone leaves out whole days, slot and id end the page.

-- name: newest_runs_of_tenant
-- The next runs of a tenant, newest slot first.
SELECT r.id, r.endpoint_id, r.slot_at, r.source, r.status, r.attempt, r.is_manual,
       r.started_at, r.finished_at, r.status_code, r.error_kind, r.error_message,
       r.skipped_slots, r.skipped_reason
FROM runs AS r
WHERE r.tenant_id = $1
  AND $2::uuid IS NULL  -- no endpoint is asked for
  AND r.slot_at >= coalesce($3::timestamptz, '-infinity')
  AND r.slot_at <= coalesce($4::timestamptz, 'infinity')
  AND (r.slot_at, r.id) < (coalesce($4::timestamptz, 'infinity'),
                           coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
ORDER BY r.slot_at DESC, r.id DESC
LIMIT $6

-- name: newest_runs_of_endpoint
-- The next runs of an endpoint, newest slot first.
SELECT run.*
FROM unnest(ARRAY[$2::uuid]) AS own (id)  -- a join, so that no plan takes the tenant's index for it
CROSS JOIN LATERAL (
    SELECT r.id, r.endpoint_id, r.slot_at, r.source, r.status, r.attempt, r.is_manual,
           r.started_at, r.finished_at, r.status_code, r.error_kind, r.error_message,
           r.skipped_slots, r.skipped_reason
    FROM runs AS r
    WHERE r.tenant_id = $1
      AND r.endpoint_id = own.id
      AND r.slot_at >= coalesce($3::timestamptz, '-infinity')
      AND r.slot_at <= coalesce($4::timestamptz, 'infinity')
      AND (r.slot_at, r.id) < (coalesce($4::timestamptz, 'infinity'),
                               coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    ORDER BY r.slot_at DESC
    LIMIT $6
) AS run

-- name: scan_runs_of_tenant
-- Among the next so many runs of a tenant, newest slot first: those that are wanted.
WITH scanned AS MATERIALIZED (
    SELECT r.id, r.endpoint_id, r.slot_at,
           ($2::uuid[] IS NULL OR r.endpoint_id = ANY ($2))
           AND ($8::text[] IS NULL OR r.status = ANY ($8))
           AND ($9::text[] IS NULL OR r.source = ANY ($9))
           AND ($10::boolean IS NULL OR r.is_manual = $10)
           AND ($11::text IS NULL OR r.error_message ILIKE $11 OR r.error_kind ILIKE $11)
           AND ($12::integer IS NULL OR r.status_code = $12) AS is_wanted
    FROM runs AS r
    WHERE r.tenant_id = $1
      AND r.slot_at >= coalesce($3::timestamptz, '-infinity')
      AND r.slot_at <= coalesce($4::timestamptz, 'infinity')
      AND (r.slot_at, r.id) < (coalesce($4::timestamptz, 'infinity'),
                               coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    ORDER BY r.slot_at DESC, r.id DESC
    LIMIT $6
),
reached AS (
    SELECT (SELECT count(*) FROM scanned) AS scanned, slot_at AS reached_at, id AS reached_id
    FROM scanned ORDER BY slot_at, id LIMIT 1
),
wanted AS (SELECT * FROM scanned WHERE is_wanted ORDER BY slot_at DESC, id DESC LIMIT $7)
SELECT reached.*, run.*
FROM reached
LEFT JOIN (
    wanted CROSS JOIN LATERAL listed_run(wanted.endpoint_id, wanted.slot_at) AS run
) ON true
ORDER BY run.slot_at DESC, run.id DESC

-- name: scan_runs_of_endpoints
-- The same for a few endpoints, each read by its key.
WITH scanned AS MATERIALIZED (
    SELECT r.*
    FROM unnest((SELECT $2::uuid[])) AS own (id)
    CROSS JOIN LATERAL (
        SELECT r.id, r.endpoint_id, r.slot_at,
               ($8::text[] IS NULL OR r.status = ANY ($8))
               AND ($9::text[] IS NULL OR r.source = ANY ($9))
               AND ($10::boolean IS NULL OR r.is_manual = $10)
               AND ($11::text IS NULL OR r.error_message ILIKE $11 OR r.error_kind ILIKE $11)
               AND ($12::integer IS NULL OR r.status_code = $12) AS is_wanted
        FROM runs AS r
        WHERE r.tenant_id = $1
          AND r.endpoint_id = own.id
          AND r.slot_at >= coalesce($3::timestamptz, '-infinity')
          AND r.slot_at <= coalesce($4::timestamptz, 'infinity')
          AND (r.slot_at, r.id) < (coalesce($4::timestamptz, 'infinity'),
                                   coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        ORDER BY r.slot_at DESC
        LIMIT $6
    ) AS r
    ORDER BY r.slot_at DESC, r.id DESC
    LIMIT $6
),
reached AS (
    SELECT (SELECT count(*) FROM scanned) AS scanned, slot_at AS reached_at, id AS reached_id
    FROM scanned ORDER BY slot_at, id LIMIT 1
),
wanted AS (SELECT * FROM scanned WHERE is_wanted ORDER BY slot_at DESC, id DESC LIMIT $7)
SELECT reached.*, run.*
FROM reached
LEFT JOIN (
    wanted CROSS JOIN LATERAL listed_run(wanted.endpoint_id, wanted.slot_at) AS run
) ON true
ORDER BY run.slot_at DESC, run.id DESC

-- name: scan_failed_runs_of_tenant
-- Among the next so many runs of a tenant that did not end well: those that are wanted.
WITH scanned AS MATERIALIZED (
    SELECT r.id, r.endpoint_id, r.slot_at,
           ($2::uuid[] IS NULL OR r.endpoint_id = ANY ($2))
           AND ($8::text[] IS NULL OR r.status = ANY ($8))
           AND ($9::text[] IS NULL OR r.source = ANY ($9))
           AND ($10::boolean IS NULL OR r.is_manual = $10)
           AND (($11::text IS NULL AND $12::integer IS NULL)
                OR has_ended_with(r.endpoint_id, r.slot_at, $11, $12)) AS is_wanted
    FROM failed_runs AS r
    WHERE r.tenant_id = $1
      AND r.slot_at >= coalesce($3::timestamptz, '-infinity')
      AND r.slot_at <= coalesce($4::timestamptz, 'infinity')
      AND (r.slot_at, r.id) < (coalesce($4::timestamptz, 'infinity'),
                               coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    ORDER BY r.slot_at DESC, r.id DESC
    LIMIT $6
),
reached AS (
    SELECT (SELECT count(*) FROM scanned) AS scanned, slot_at AS reached_at, id AS reached_id
    FROM scanned ORDER BY slot_at, id LIMIT 1
),
wanted AS (SELECT * FROM scanned WHERE is_wanted ORDER BY slot_at DESC, id DESC LIMIT $7)
SELECT reached.*, run.*
FROM reached
LEFT JOIN (
    wanted CROSS JOIN LATERAL listed_run(wanted.endpoint_id, wanted.slot_at) AS run
) ON true
ORDER BY run.slot_at DESC, run.id DESC

-- name: scan_failed_runs_of_endpoints
-- The same for a few endpoints, each read by its key.
WITH scanned AS MATERIALIZED (
    SELECT r.*
    FROM unnest((SELECT $2::uuid[])) AS own (id)
    CROSS JOIN LATERAL (
        SELECT r.id, r.endpoint_id, r.slot_at,
               ($8::text[] IS NULL OR r.status = ANY ($8))
               AND ($9::text[] IS NULL OR r.source = ANY ($9))
               AND ($10::boolean IS NULL OR r.is_manual = $10)
               AND (($11::text IS NULL AND $12::integer IS NULL)
                    OR has_ended_with(r.endpoint_id, r.slot_at, $11, $12)) AS is_wanted
        FROM failed_runs AS r
        WHERE r.tenant_id = $1
          AND r.endpoint_id = own.id
          AND r.slot_at >= coalesce($3::timestamptz, '-infinity')
          AND r.slot_at <= coalesce($4::timestamptz, 'infinity')
          AND (r.slot_at, r.id) < (coalesce($4::timestamptz, 'infinity'),
                                   coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        ORDER BY r.slot_at DESC
        LIMIT $6
    ) AS r
    ORDER BY r.slot_at DESC, r.id DESC
    LIMIT $6
),
reached AS (
    SELECT (SELECT count(*) FROM scanned) AS scanned, slot_at AS reached_at, id AS reached_id
    FROM scanned ORDER BY slot_at, id LIMIT 1
),
wanted AS (SELECT * FROM scanned WHERE is_wanted ORDER BY slot_at DESC, id DESC LIMIT $7)
SELECT reached.*, run.*
FROM reached
LEFT JOIN (
    wanted CROSS JOIN LATERAL listed_run(wanted.endpoint_id, wanted.slot_at) AS run
) ON true
ORDER BY run.slot_at DESC, run.id DESC

-- name: get_run
-- One run of a tenant, with all that it left.
SELECT id, endpoint_id, tenant_id, slot_at, source, status, attempt, epoch, claimed_at, started_at,
       finished_at, status_code, error_kind, error_message, body, plan, skipped_slots,
       skipped_reason, is_manual
FROM runs
WHERE tenant_id = $1 AND id = $2

-- name: around_run
-- What a run of an endpoint belongs to, and its neighbours.
--   $1 tenant  $2 endpoint  $3 slot
SELECT e.name AS endpoint_name, e.job_id, job.name AS job_name, e.target, e.secret_headers,
       e.target_changed_at,
       before.id AS before_id, before.slot_at AS before_at, before.status AS before_status,
       after.id AS after_id, after.slot_at AS after_at, after.status AS after_status
FROM endpoints AS e
JOIN jobs AS job ON job.id = e.job_id
LEFT JOIN LATERAL (
    SELECT r.id, r.slot_at, r.status FROM runs AS r
    WHERE r.endpoint_id = e.id AND r.slot_at < $3
    ORDER BY r.slot_at DESC
    LIMIT 1
) AS before ON true
LEFT JOIN LATERAL (
    SELECT r.id, r.slot_at, r.status FROM runs AS r
    WHERE r.endpoint_id = e.id AND r.slot_at > $3
    ORDER BY r.slot_at
    LIMIT 1
) AS after ON true
WHERE e.tenant_id = $1 AND e.id = $2

-- name: list_lost_attempts
-- The attempts of a run whose worker never answered.
SELECT run_id, attempt, noted_at
FROM run_attempts
WHERE tenant_id = $1 AND run_id = $2
ORDER BY noted_at

-- name: late_results_of_run
-- Results of a run that came with an old epoch.
SELECT run_id, endpoint_id, epoch, status, received_at
FROM late_results
WHERE tenant_id = $1 AND endpoint_id = $2 AND run_id = $3
ORDER BY id
LIMIT 100

-- name: health
-- How an endpoint did over the last hour, four hours and day.
SELECT e.failure_count, health.*
FROM endpoints AS e
CROSS JOIN LATERAL endpoint_health(e.id) AS health
WHERE e.tenant_id = $1 AND e.id = $2

-- name: responses
-- What an endpoint answered, newest first.
SELECT slot_at, started_at, finished_at, status, status_code, error_kind, body
FROM runs
WHERE endpoint_id = $1 AND status <> 'running'
ORDER BY slot_at DESC
LIMIT $2 OFFSET $3

-- name: latest_answers
-- What each endpoint of these jobs answered last, where that went well and is not too long.
SELECT job.name AS job, e.name AS endpoint, latest.body
FROM jobs AS job
JOIN endpoints AS e ON e.job_id = job.id AND e.archived_at IS NULL
CROSS JOIN LATERAL (
    SELECT r.status, r.body::text AS body
    FROM runs AS r
    WHERE r.endpoint_id = e.id AND r.status <> 'running'
    ORDER BY r.slot_at DESC
    LIMIT 1
) AS latest
WHERE job.tenant_id = $1 AND job.name = ANY ($2::text[]) AND job.archived_at IS NULL
  AND latest.status = 'success' AND length(latest.body) <= $3

-- name: runs_of_session
-- The runs whose slots were chosen by a session's hints and pauses: only while those could act.
SELECT r.id AS run_id, r.endpoint_id, e.name AS endpoint_name, r.slot_at, r.source, r.status
FROM analysis_sessions AS s
JOIN endpoints AS e
    ON e.job_id = s.job_id AND e.name IN (
        SELECT call.value -> 'result' ->> 'endpoint'
        FROM jsonb_array_elements(s.tool_calls) AS call
        WHERE call.value ->> 'took_effect' = 'true' OR call.value ->> 'accepted_by' IS NOT NULL
    )
JOIN runs AS r
    ON r.endpoint_id = e.id
   AND r.slot_at >= s.started_at
   AND r.slot_at <= s.acts_until
WHERE s.tenant_id = $1 AND s.id = $2 AND r.plan ->> 'session_id' = $2::uuid::text
ORDER BY r.slot_at, r.endpoint_id
LIMIT $3

-- name: usage
-- What a tenant has, what runs now, and how runs ended in about the last hour and day.
WITH clock AS MATERIALIZED (
    SELECT now,
           date_bin('5 minutes', now - interval '1 hour', 'epoch') AS hour_since,
           date_bin('5 minutes', now - interval '24 hours', 'epoch') AS day_since
    FROM (SELECT cadenza_now() AS now) AS asked
)
SELECT
    hour_since,
    day_since,
    (SELECT count(*) FROM jobs WHERE tenant_id = $1 AND archived_at IS NULL) AS jobs,
    endpoints.*,
    (
        SELECT coalesce(json_agg(json_build_array(status, last_hour, last_day)), '[]')
        FROM (
            SELECT status, sum(runs) FILTER (WHERE since >= hour_since) AS last_hour,
                   sum(runs) AS last_day
            FROM run_counts
            WHERE tenant_id = $1 AND since >= day_since
            GROUP BY status
        ) AS by_status
    ) AS statuses
FROM clock, (
    SELECT count(*) FILTER (WHERE archived_at IS NULL) AS endpoints,
           count(running_slot_at) AS running
    FROM endpoints
    WHERE tenant_id = $1
) AS endpoints
