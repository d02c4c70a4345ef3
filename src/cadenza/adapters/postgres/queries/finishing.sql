-- What happens when runs end, in one transaction: prefer_indexes, lock_held, the governor,
-- close_runs, add_events; and note_late for results that came too late.

-- name: prefer_indexes
-- For this transaction: rows are found by their keys. A day of runs grows from nothing to millions
-- within hours, and a plan that scanned it while it was small would be kept while it is not.
SET LOCAL enable_seqscan = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off

-- name: lock_held
-- The endpoints whose results still count, fresh and locked; a row that somebody else has locked
-- holds up no other. Only the columns that the next plan depends on: hundreds are read a second.
SELECT
    cadenza_now() AS now,
    e.id, e.tenant_id, e.job_id, e.name, e.created_at, e.archived_at,
    e.baseline_interval_ms, e.baseline_cron, e.timezone, e.min_interval_ms, e.max_interval_ms,
    e.backs_off,
    e.hint_interval_ms, e.hint_interval_expires_at, e.hint_interval_author, e.hint_interval_reason,
    e.hint_interval_session_id, e.hint_interval_user_id, e.hint_interval_brain,
    e.hint_interval_rule_id,
    e.hint_run_at, e.hint_run_expires_at, e.hint_run_author, e.hint_run_reason,
    e.hint_run_session_id, e.hint_run_user_id, e.hint_run_brain, e.hint_run_rule_id,
    e.person_paused_until, e.person_pause_reason, e.person_pause_user_id,
    e.planner_paused_until, e.planner_pause_reason, e.planner_pause_session_id,
    e.planner_pause_brain, e.planner_pause_rule_id,
    e.job_paused_until, e.planner_changes,
    e.failure_count, e.not_before_at, e.last_run_at, e.last_slot_at,
    -- a run that a person asked for leaves the plan as it is; the others replace it
    CASE WHEN $4 OR e.running_is_manual THEN e.plan END AS plan,
    e.running_run_id, e.running_slot_at, e.running_is_manual, e.manual_slot_at,
    e.person_ran_at,
    -- asked once for all rows, and null nearly always
    (SELECT array_agg(id) FROM tenants WHERE watched_until > (SELECT cadenza_now())) AS watched_tenants
FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) AS claim (endpoint_id, epoch, run_id)
JOIN endpoints AS e
    ON e.id = claim.endpoint_id
   AND e.lease_epoch = claim.epoch
   AND e.running_run_id = claim.run_id
ORDER BY e.id  -- in one order everywhere, so that no two transactions wait in a circle
FOR UPDATE OF e SKIP LOCKED

-- name: still_held
-- Of claims that were passed over: those that are still held. Only their rows were locked.
--   $1 endpoint ids  $2 epochs  $3 run ids  $4 whether their leases have to last
SELECT claim.run_id
FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) AS claim (endpoint_id, epoch, run_id)
JOIN endpoints AS e
    ON e.id = claim.endpoint_id
   AND e.lease_epoch = claim.epoch
   AND e.running_run_id = claim.run_id
WHERE NOT $4 OR e.lease_until > cadenza_now()

-- name: close_runs
-- Free the endpoints with their next plan, close their runs, and wake the planners.
WITH result AS MATERIALIZED (
    SELECT *
    FROM unnest(
        $2::uuid[], $3::timestamptz[], $4::integer[], $5::timestamptz[], $6::timestamptz[],
        $7::timestamptz[], $8::timestamptz[], $9::text[], $10::json[], $11::boolean[],
        $12::boolean[], $13::bigint[], $14::text[], $15::timestamptz[], $16::integer[],
        $17::text[], $18::text[], $19::json[], $20::integer[], $21::text[], $22::bigint[]
    ) AS r (
        endpoint_id, slot_at, failure_count, not_before_at, last_run_at,
        last_slot_at, next_run_at, next_source, plan, keeps_interval_hint,
        keeps_run_hint, answer, status, started_at, status_code,
        error_kind, error_message, body, skipped_slots, skipped_reason, epoch
    )
),
freed AS (
    UPDATE endpoints AS e
    SET failure_count = result.failure_count,
        not_before_at = result.not_before_at,
        last_run_at = result.last_run_at,
        last_slot_at = result.last_slot_at,
        next_run_at = result.next_run_at,
        next_source = result.next_source,
        plan = result.plan,
        hint_interval_ms = CASE WHEN keeps_interval_hint THEN hint_interval_ms END,
        hint_interval_expires_at = CASE WHEN keeps_interval_hint THEN hint_interval_expires_at END,
        hint_interval_author = CASE WHEN keeps_interval_hint THEN hint_interval_author END,
        hint_interval_reason = CASE WHEN keeps_interval_hint THEN hint_interval_reason END,
        hint_interval_session_id = CASE WHEN keeps_interval_hint THEN hint_interval_session_id END,
        hint_interval_user_id = CASE WHEN keeps_interval_hint THEN hint_interval_user_id END,
        hint_interval_brain = CASE WHEN keeps_interval_hint THEN hint_interval_brain END,
        hint_interval_rule_id = CASE WHEN keeps_interval_hint THEN hint_interval_rule_id END,
        hint_run_at = CASE WHEN keeps_run_hint THEN hint_run_at END,
        hint_run_expires_at = CASE WHEN keeps_run_hint THEN hint_run_expires_at END,
        hint_run_author = CASE WHEN keeps_run_hint THEN hint_run_author END,
        hint_run_reason = CASE WHEN keeps_run_hint THEN hint_run_reason END,
        hint_run_session_id = CASE WHEN keeps_run_hint THEN hint_run_session_id END,
        hint_run_user_id = CASE WHEN keeps_run_hint THEN hint_run_user_id END,
        hint_run_brain = CASE WHEN keeps_run_hint THEN hint_run_brain END,
        hint_run_rule_id = CASE WHEN keeps_run_hint THEN hint_run_rule_id END,
        running_run_id = NULL,
        running_slot_at = NULL,
        running_attempt = NULL,
        running_claimed_at = NULL,
        running_started_at = NULL,
        running_is_manual = false,
        person_ran_at = CASE WHEN e.running_is_manual THEN e.running_slot_at
                             ELSE e.person_ran_at END,
        lease_until = NULL,
        leased_by = NULL,
        last_finished_at = $1,
        last_failed_at = CASE WHEN result.status IN ('failure', 'timeout') THEN $1
                              ELSE e.last_failed_at END,
        changed_at = CASE WHEN e.last_answer IS DISTINCT FROM result.answer THEN $1
                          ELSE e.changed_at END,
        streak_changed_at = CASE WHEN (e.failure_count > 0) <> (result.failure_count > 0) THEN $1
                                 ELSE e.streak_changed_at END,
        last_answer = result.answer
    FROM result
    WHERE e.id = result.endpoint_id
),
closed AS (
    UPDATE runs
    SET status = result.status,
        started_at = result.started_at,
        finished_at = $1,
        status_code = result.status_code,
        error_kind = result.error_kind,
        error_message = result.error_message,
        body = result.body,
        skipped_slots = result.skipped_slots,
        skipped_reason = result.skipped_reason
    FROM result
    WHERE runs.endpoint_id = result.endpoint_id
      AND runs.slot_at = result.slot_at
      AND runs.status = 'running'
)
SELECT pg_notify('cadenza_finished', '')

-- name: note_late
-- Keep results that came with an old epoch; the same result a second time is not one of them.
INSERT INTO late_results (run_id, endpoint_id, tenant_id, epoch, status, received_at)
SELECT late.run_id, late.endpoint_id, late.tenant_id, late.epoch, late.status, cadenza_now()
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $6::timestamptz[])
    AS late (run_id, endpoint_id, tenant_id, epoch, status, slot_at)
WHERE NOT EXISTS (
    SELECT FROM runs
    WHERE runs.endpoint_id = late.endpoint_id AND runs.slot_at = late.slot_at
      AND runs.epoch = late.epoch AND runs.status <> 'running'
)
RETURNING run_id
