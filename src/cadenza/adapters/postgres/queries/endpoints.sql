-- Endpoints, as their owners define, steer and list them.

-- name: insert_endpoint
-- A new endpoint, with its first plan and what it calls.
INSERT INTO endpoints (
    id, name, archived_at, baseline_interval_ms, baseline_cron, timezone, min_interval_ms,
    max_interval_ms, hint_interval_ms, hint_interval_expires_at, hint_interval_author,
    hint_interval_reason, hint_interval_session_id, hint_interval_user_id, hint_interval_brain,
    hint_interval_rule_id, hint_run_at, hint_run_expires_at, hint_run_author, hint_run_reason,
    hint_run_session_id, hint_run_user_id, hint_run_brain, hint_run_rule_id, person_paused_until,
    person_pause_reason, person_pause_user_id, planner_paused_until, planner_pause_reason,
    planner_pause_session_id, planner_pause_brain, planner_pause_rule_id, job_paused_until,
    planner_changes, failure_count, not_before_at, last_run_at, last_slot_at, next_run_at,
    next_source, plan, manual_slot_at, backs_off, tenant_id, job_id, created_at, target, host,
    runs_on, secret_headers
)
VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
    $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38,
    $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49, nullif($50::jsonb, '{}')
)

-- name: save_endpoint
-- Everything that a transition may change: the same columns, in the same order. Leases and runs
-- belong to claim and finish.
UPDATE endpoints
SET (
    name, archived_at, baseline_interval_ms, baseline_cron, timezone, min_interval_ms,
    max_interval_ms, hint_interval_ms, hint_interval_expires_at, hint_interval_author,
    hint_interval_reason, hint_interval_session_id, hint_interval_user_id, hint_interval_brain,
    hint_interval_rule_id, hint_run_at, hint_run_expires_at, hint_run_author, hint_run_reason,
    hint_run_session_id, hint_run_user_id, hint_run_brain, hint_run_rule_id, person_paused_until,
    person_pause_reason, person_pause_user_id, planner_paused_until, planner_pause_reason,
    planner_pause_session_id, planner_pause_brain, planner_pause_rule_id, job_paused_until,
    planner_changes, failure_count, not_before_at, last_run_at, last_slot_at, next_run_at,
    next_source, plan, manual_slot_at, backs_off, steered_at, revision
) = (
    $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
    $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38,
    $39, $40, $41, $42, $43,
    CASE WHEN $44 THEN cadenza_now() ELSE steered_at END,
    CASE WHEN $45 THEN revision + 1 ELSE revision END
)
WHERE id = $1

-- name: set_target
-- What an endpoint calls. Secrets that are named in $6 stay as they are sealed.
UPDATE endpoints
SET target = $2,
    target_changed_at = CASE
        WHEN target = $2::jsonb AND $5::jsonb = '{}' AND NOT EXISTS (
            SELECT FROM jsonb_object_keys(secret_headers) AS stored (name)
            WHERE stored.name <> ALL ($6::text[])
        ) THEN target_changed_at
        ELSE cadenza_now()
    END,
    host = $3,
    runs_on = $4,
    secret_headers = nullif(
        $5::jsonb || coalesce((
            SELECT jsonb_object_agg(stored.name, stored.sealed)
            FROM jsonb_each(secret_headers) AS stored (name, sealed)
            WHERE stored.name = ANY ($6::text[])
        ), '{}'),
        '{}'
    )
WHERE id = $1

-- name: ask_for_analysis
-- A person wants an analysis of an endpoint.
UPDATE endpoints SET asked_at = cadenza_now() WHERE id = $1

-- name: get_endpoint
-- One endpoint of a tenant, with what it calls.
SELECT cadenza_now() AS now, e.*
FROM endpoint_states AS e
WHERE e.tenant_id = $1 AND e.id = $2

-- name: lock_endpoint
-- The same, for a change of it.
SELECT cadenza_now() AS now, e.*
FROM endpoint_states AS e
WHERE e.tenant_id = $1 AND e.id = $2
FOR UPDATE OF e

-- name: lock_endpoints
-- These endpoints, in the order in which everybody locks them.
SELECT cadenza_now() AS now, e.*
FROM endpoint_states AS e
WHERE e.id = ANY ($1::uuid[])
ORDER BY e.id
FOR UPDATE OF e

-- name: lock_own_endpoints
-- The same, but none of another tenant.
SELECT cadenza_now() AS now, e.*
FROM endpoint_states AS e
WHERE e.tenant_id = $1 AND e.id = ANY ($2::uuid[])
ORDER BY e.id
FOR UPDATE OF e

-- name: lock_endpoints_of_job
-- The endpoints of a job that are not archived, in the order in which everybody locks them.
SELECT cadenza_now() AS now, e.*
FROM endpoint_states AS e
WHERE e.tenant_id = $1 AND e.job_id = $2 AND e.archived_at IS NULL
ORDER BY e.id
FOR UPDATE OF e

-- name: declared_endpoints
-- The endpoints of a tenant that are not archived, by name, with what they call.
SELECT cadenza_now() AS now, e.*
FROM endpoint_states AS e
WHERE e.tenant_id = $1 AND e.archived_at IS NULL
ORDER BY e.name

-- name: sibling_ids
-- The other endpoints of a job that are not archived.
SELECT name, id FROM endpoints WHERE job_id = $1 AND id <> $2 AND archived_at IS NULL

-- name: sealed_headers_of_job
-- The secrets of a job's endpoints, also of archived ones.
SELECT id, tenant_id, secret_headers FROM endpoints
WHERE tenant_id = $1 AND job_id = $2 AND secret_headers IS NOT NULL

-- name: endpoint_ids_of_jobs
-- Which endpoints some jobs have and had, the newest first, so many at most.
SELECT id FROM endpoints
WHERE tenant_id = $1 AND job_id = ANY ($2::uuid[]) ORDER BY id DESC LIMIT $3

-- name: jobs_of_endpoints
-- Which jobs endpoints belong to.
SELECT DISTINCT job_id FROM endpoints WHERE id = ANY ($1::uuid[])

-- name: endpoint_ids_of_job
-- Which endpoints a job has and had.
SELECT id FROM endpoints WHERE tenant_id = $1 AND job_id = $2

-- The three lists differ in their order alone; each is a statement so that an index can lead it.
--   $1 tenant  $2 job  $3 name  $4 a piece of name or address  $5 state
--   $6, $7 value and id of the last one before this page  $8 how many  $9 only these jobs

-- name: list_endpoints_by_created_at
-- Endpoints of a tenant, the oldest first.
SELECT cadenza_now() AS now, e.*
FROM listed_endpoints AS e
WHERE e.tenant_id = $1
  AND ($2::uuid IS NULL OR e.job_id = $2)
  AND ($9::uuid[] IS NULL OR e.job_id = ANY ($9))
  AND ($3::text IS NULL OR e.name = $3)
  AND ($4::text IS NULL OR e.name ILIKE $4 OR e.target ->> 'url' ILIKE $4)
  AND (e.archived_at IS NOT NULL) = ($5::text IS NOT DISTINCT FROM 'archived')
  AND is_in_state($5, e.paused_until, e.failure_count, e.next_run_at, e.running_slot_at,
                  greatest(e.hint_interval_expires_at, e.hint_run_expires_at))
  AND ($7::uuid IS NULL OR (e.created_at, e.id) > ($6::text::timestamptz, $7))
ORDER BY e.created_at, e.id
LIMIT $8

-- name: list_endpoints_by_name
-- Endpoints of a tenant by name.
SELECT cadenza_now() AS now, e.*
FROM listed_endpoints AS e
WHERE e.tenant_id = $1
  AND ($2::uuid IS NULL OR e.job_id = $2)
  AND ($9::uuid[] IS NULL OR e.job_id = ANY ($9))
  AND ($3::text IS NULL OR e.name = $3)
  AND ($4::text IS NULL OR e.name ILIKE $4 OR e.target ->> 'url' ILIKE $4)
  AND (e.archived_at IS NOT NULL) = ($5::text IS NOT DISTINCT FROM 'archived')
  AND is_in_state($5, e.paused_until, e.failure_count, e.next_run_at, e.running_slot_at,
                  greatest(e.hint_interval_expires_at, e.hint_run_expires_at))
  AND ($7::uuid IS NULL OR (e.name, e.id) > ($6::text, $7))
ORDER BY e.name, e.id
LIMIT $8

-- name: list_endpoints_by_next_run_at
-- Endpoints of a tenant by their next run; those that have none are left out.
SELECT cadenza_now() AS now, e.*
FROM listed_endpoints AS e
WHERE e.tenant_id = $1
  AND ($2::uuid IS NULL OR e.job_id = $2)
  AND ($9::uuid[] IS NULL OR e.job_id = ANY ($9))
  AND ($3::text IS NULL OR e.name = $3)
  AND ($4::text IS NULL OR e.name ILIKE $4 OR e.target ->> 'url' ILIKE $4)
  AND (e.archived_at IS NOT NULL) = ($5::text IS NOT DISTINCT FROM 'archived')
  AND is_in_state($5, e.paused_until, e.failure_count, e.next_run_at, e.running_slot_at,
                  greatest(e.hint_interval_expires_at, e.hint_run_expires_at))
  AND e.next_run_at IS NOT NULL
  AND ($7::uuid IS NULL OR (e.next_run_at, e.id) > ($6::text::timestamptz, $7))
ORDER BY e.next_run_at, e.id
LIMIT $8

-- name: matching_endpoints
-- The ids of all endpoints of a tenant that fit, in the order in which they are locked.
--   $1 tenant  $2 job  $3 name  $4 a piece of name or address  $5 state  $6 how many  $7 jobs
SELECT e.id
FROM listed_endpoints AS e
WHERE e.tenant_id = $1
  AND ($2::uuid IS NULL OR e.job_id = $2)
  AND ($3::text IS NULL OR e.name = $3)
  AND ($4::text IS NULL OR e.name ILIKE $4 OR e.target ->> 'url' ILIKE $4)
  AND (e.archived_at IS NOT NULL) = ($5::text IS NOT DISTINCT FROM 'archived')
  AND is_in_state($5, e.paused_until, e.failure_count, e.next_run_at, e.running_slot_at,
                  greatest(e.hint_interval_expires_at, e.hint_run_expires_at))
  AND ($7::uuid[] IS NULL OR e.job_id = ANY ($7))
ORDER BY e.id
LIMIT $6

-- name: endpoint_names
-- What endpoints are called, and their jobs; also of those that are archived.
SELECT e.id, e.name, e.job_id, job.name AS job_name
FROM endpoints AS e
JOIN jobs AS job ON job.id = e.job_id
WHERE e.tenant_id = $1 AND e.id = ANY ($2::uuid[])
