-- Free the endpoints with their next plan, close their runs, and tell whoever follows.
WITH result AS MATERIALIZED (
    SELECT *
    FROM unnest(
        $2::uuid[], $3::timestamptz[], $4::integer[], $5::timestamptz[], $6::timestamptz[],
        $7::timestamptz[], $8::timestamptz[], $9::text[], $10::json[], $11::boolean[],
        $12::boolean[], $13::bigint[], $14::text[], $15::timestamptz[], $16::integer[],
        $17::text[], $18::text[], $19::json[], $20::integer[], $21::text[], $22::bigint[],
        $23::boolean[]
    ) AS r (
        endpoint_id, slot_at, failure_count, not_before_at, last_run_at,
        last_slot_at, next_run_at, next_source, plan, keeps_interval_hint,
        keeps_run_hint, answer, status, started_at, status_code,
        error_kind, error_message, body, skipped_slots, skipped_reason, epoch,
        recovered
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
        hint_run_at = CASE WHEN keeps_run_hint THEN hint_run_at END,
        hint_run_expires_at = CASE WHEN keeps_run_hint THEN hint_run_expires_at END,
        hint_run_author = CASE WHEN keeps_run_hint THEN hint_run_author END,
        hint_run_reason = CASE WHEN keeps_run_hint THEN hint_run_reason END,
        running_run_id = NULL,
        running_slot_at = NULL,
        running_attempt = NULL,
        running_claimed_at = NULL,
        running_is_manual = false,
        lease_until = NULL,
        leased_by = NULL,
        last_finished_at = $1,
        last_failed_at = CASE WHEN result.status IN ('failure', 'timeout') THEN $1
                              ELSE e.last_failed_at END,
        changed_at = CASE WHEN e.last_answer IS DISTINCT FROM result.answer THEN $1
                          ELSE e.changed_at END,
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
    RETURNING runs.id, runs.tenant_id, runs.source, result.endpoint_id, result.slot_at,
              result.status, result.status_code, result.error_kind, result.failure_count,
              result.recovered
),
told AS (
    INSERT INTO events (tenant_id, at, kind, job_id, endpoint_id, data)
    SELECT run.tenant_id, $1, event.kind, e.job_id, run.endpoint_id,
           jsonb_build_object(
               'run_id', run.id, 'endpoint_name', e.name, 'slot_at', run.slot_at,
               'source', run.source, 'status', run.status, 'status_code', run.status_code,
               'error_kind', run.error_kind, 'failure_count', run.failure_count
           )
    FROM (
        SELECT *,
               status IN ('failure', 'timeout') AS failed,
               -- once for the whole batch; nobody watches most tenants most of the time
               tenant_id = ANY (ARRAY(SELECT id FROM tenants WHERE watched_until > $1)) AS watched
        FROM closed
    ) AS run
    JOIN endpoints AS e ON e.id = run.endpoint_id
    CROSS JOIN LATERAL (
        VALUES ('run.failed', run.failed),
               ('run.finished', run.watched AND NOT run.failed),
               ('endpoint.recovered', run.recovered)
    ) AS event (kind, happened)
    WHERE (run.failed OR run.watched OR run.recovered) AND event.happened
    RETURNING id
)
SELECT pg_notify('cadenza_events', '') FROM (SELECT FROM told LIMIT 1) AS anything
