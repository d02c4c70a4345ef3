-- Endpoints, as their owners define, steer and list them.

-- name: add_endpoint
-- A new endpoint; save_endpoint writes its schedule right after, in the same transaction.
INSERT INTO endpoints (id, tenant_id, job_id, name, created_at, target, host, secret_headers)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: save_endpoint
-- Everything that a transition may change. Leases and runs belong to claim and finish.
UPDATE endpoints
SET name = $2,
    archived_at = $3,
    baseline_interval_ms = $4,
    baseline_cron = $5,
    timezone = $6,
    min_interval_ms = $7,
    max_interval_ms = $8,
    hint_interval_ms = $9,
    hint_interval_expires_at = $10,
    hint_interval_author = $11,
    hint_interval_reason = $12,
    hint_run_at = $13,
    hint_run_expires_at = $14,
    hint_run_author = $15,
    hint_run_reason = $16,
    person_paused_until = $17,
    person_pause_reason = $18,
    planner_paused_until = $19,
    planner_pause_reason = $20,
    job_paused_until = $21,
    planner_changes = $22,
    failure_count = $23,
    not_before_at = $24,
    last_run_at = $25,
    last_slot_at = $26,
    next_run_at = $27,
    next_source = $28,
    plan = $29,
    manual_slot_at = $30,
    hint_interval_session_id = $31,
    hint_run_session_id = $32,
    planner_pause_session_id = $33,
    hint_interval_user_id = $34,
    hint_interval_brain = $35,
    hint_interval_rule_id = $36,
    hint_run_user_id = $37,
    hint_run_brain = $38,
    hint_run_rule_id = $39,
    person_pause_user_id = $40,
    planner_pause_brain = $41,
    planner_pause_rule_id = $42,
    changed_at = CASE WHEN $43 THEN cadenza_now() ELSE changed_at END
WHERE id = $1

-- name: set_target
-- What an endpoint calls, and that its definition has changed.
UPDATE endpoints
SET target = $2, host = $3, secret_headers = $4, revision = revision + 1
WHERE id = $1

-- name: raise_revision
-- That the definition of an endpoint has changed.
UPDATE endpoints SET revision = revision + 1 WHERE id = $1

-- name: ask_for_analysis
-- A person wants an analysis of an endpoint.
UPDATE endpoints SET asked_at = cadenza_now() WHERE tenant_id = $1 AND id = $2 RETURNING archived_at

-- name: get_endpoint
-- One endpoint in full.
SELECT cadenza_now() AS now, e.*, job.name AS job_name
FROM endpoints AS e
JOIN jobs AS job ON job.id = e.job_id
WHERE e.tenant_id = $1 AND e.id = $2

-- name: lock_endpoint
-- The same, for a change of it.
SELECT cadenza_now() AS now, e.*, job.name AS job_name
FROM endpoints AS e
JOIN jobs AS job ON job.id = e.job_id
WHERE e.tenant_id = $1 AND e.id = $2
FOR UPDATE OF e

-- name: lock_endpoints
-- These endpoints in full, in the order in which everybody locks them.
SELECT cadenza_now() AS now, e.*, job.name AS job_name
FROM endpoints AS e
JOIN jobs AS job ON job.id = e.job_id
WHERE e.id = ANY ($1::uuid[])
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
-- The endpoints of a tenant that are not archived, in full, by name.
SELECT cadenza_now() AS now, e.*, job.name AS job_name
FROM endpoints AS e
JOIN jobs AS job ON job.id = e.job_id
WHERE e.tenant_id = $1 AND e.archived_at IS NULL
ORDER BY e.name

-- name: endpoint_ids_of_job
-- Which endpoints a job has and had.
SELECT id FROM endpoints WHERE tenant_id = $1 AND job_id = $2

-- The three lists differ in their order alone; each is a statement so that an index can lead it.
--   $1 tenant  $2 job  $3 name  $4 a piece of name or address  $5 state
--   $6, $7 value and id of the last one before this page  $8 how many

-- name: list_endpoints_by_created_at
-- Endpoints of a tenant, the oldest first.
SELECT cadenza_now() AS now, e.*
FROM listed_endpoints AS e
WHERE e.tenant_id = $1
  AND ($2::uuid IS NULL OR e.job_id = $2)
  AND ($3::text IS NULL OR e.name = $3)
  AND ($4::text IS NULL OR e.name ILIKE $4 OR e.target ->> 'url' ILIKE $4)
  AND (e.archived_at IS NOT NULL) = ($5::text IS NOT DISTINCT FROM 'archived')
  AND CASE $5
          WHEN 'paused' THEN e.paused_until > cadenza_now()
          WHEN 'active' THEN (e.paused_until > cadenza_now()) IS NOT TRUE
          WHEN 'failing' THEN e.failure_count > 0
          ELSE true
      END
  AND ($7::uuid IS NULL OR (e.created_at, e.id) > ($6::text::timestamptz, $7))
ORDER BY e.created_at, e.id
LIMIT $8

-- name: list_endpoints_by_name
-- Endpoints of a tenant by name.
SELECT cadenza_now() AS now, e.*
FROM listed_endpoints AS e
WHERE e.tenant_id = $1
  AND ($2::uuid IS NULL OR e.job_id = $2)
  AND ($3::text IS NULL OR e.name = $3)
  AND ($4::text IS NULL OR e.name ILIKE $4 OR e.target ->> 'url' ILIKE $4)
  AND (e.archived_at IS NOT NULL) = ($5::text IS NOT DISTINCT FROM 'archived')
  AND CASE $5
          WHEN 'paused' THEN e.paused_until > cadenza_now()
          WHEN 'active' THEN (e.paused_until > cadenza_now()) IS NOT TRUE
          WHEN 'failing' THEN e.failure_count > 0
          ELSE true
      END
  AND ($7::uuid IS NULL OR (e.name, e.id) > ($6::text, $7))
ORDER BY e.name, e.id
LIMIT $8

-- name: list_endpoints_by_next_run_at
-- Endpoints of a tenant by their next run; those that have none are left out.
SELECT cadenza_now() AS now, e.*
FROM listed_endpoints AS e
WHERE e.tenant_id = $1
  AND ($2::uuid IS NULL OR e.job_id = $2)
  AND ($3::text IS NULL OR e.name = $3)
  AND ($4::text IS NULL OR e.name ILIKE $4 OR e.target ->> 'url' ILIKE $4)
  AND (e.archived_at IS NOT NULL) = ($5::text IS NOT DISTINCT FROM 'archived')
  AND CASE $5
          WHEN 'paused' THEN e.paused_until > cadenza_now()
          WHEN 'active' THEN (e.paused_until > cadenza_now()) IS NOT TRUE
          WHEN 'failing' THEN e.failure_count > 0
          ELSE true
      END
  AND e.next_run_at IS NOT NULL
  AND ($7::uuid IS NULL OR (e.next_run_at, e.id) > ($6::text::timestamptz, $7))
ORDER BY e.next_run_at, e.id
LIMIT $8

-- --- Only for PostgresEndpointStore.list_endpoints, which goes with it -------------------------

-- name: list_endpoints
-- The endpoints of a job, by name.
SELECT e.* FROM endpoints AS e WHERE e.tenant_id = $1 AND e.job_id = $2 ORDER BY e.name, e.id
