-- Who wrote a hint or a pause, as data: a person by the user's id; a planner by the kind of its brain
-- and, where a declared rule asked for it, by the rule's id.
ALTER TABLE endpoints
    ADD COLUMN hint_interval_user_id uuid,
    ADD COLUMN hint_interval_brain text,
    ADD COLUMN hint_interval_rule_id uuid,
    ADD COLUMN hint_run_user_id uuid,
    ADD COLUMN hint_run_brain text,
    ADD COLUMN hint_run_rule_id uuid,
    ADD COLUMN person_pause_user_id uuid,
    ADD COLUMN planner_pause_brain text,
    ADD COLUMN planner_pause_rule_id uuid,
    -- What 0004 moved to looks; nothing has read them since.
    DROP COLUMN looked_at,
    DROP COLUMN next_analysis_at,
    DROP COLUMN last_reasoning,
    DROP COLUMN idle_looks;

-- An endpoint as use cases see it: everything but its lease. A view has the columns that it had when
-- it was made, so that a column which a later migration adds does not disturb a working program.
CREATE VIEW endpoint_states AS
SELECT
    e.id, e.tenant_id, e.job_id, e.name, e.created_at, e.archived_at,
    e.baseline_interval_ms, e.baseline_cron, e.timezone, e.min_interval_ms, e.max_interval_ms,
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
    e.next_run_at, e.next_source, e.plan,
    e.running_slot_at, e.running_is_manual, e.manual_slot_at,
    e.target, e.secret_headers, e.revision,
    (SELECT job.name FROM jobs AS job WHERE job.id = e.job_id) AS job_name
FROM endpoints AS e;

-- A job, with how many endpoints it has.
CREATE VIEW stored_jobs AS
SELECT
    j.id, j.tenant_id, j.name, j.description, j.paused_until, j.archived_at, j.created_at,
    j.revision, j.rules, j.planner_mode, j.probe_budget,
    (SELECT count(*) FROM endpoints AS e
      WHERE e.job_id = j.id AND e.archived_at IS NULL) AS endpoint_count
FROM jobs AS j;

-- What lists show of an endpoint: not its plan, which takes a kilobyte.
CREATE VIEW listed_endpoints AS
SELECT
    e.id, e.tenant_id, e.job_id,
    (SELECT job.name FROM jobs AS job WHERE job.id = e.job_id) AS job_name,
    e.name, e.created_at, e.archived_at, e.revision, e.target, e.secret_headers,
    e.baseline_interval_ms, e.baseline_cron, e.timezone, e.min_interval_ms, e.max_interval_ms,
    e.hint_interval_ms, e.hint_interval_expires_at, e.hint_interval_author, e.hint_interval_reason,
    e.hint_interval_session_id, e.hint_interval_user_id, e.hint_interval_brain,
    e.hint_interval_rule_id,
    e.hint_run_at, e.hint_run_expires_at, e.hint_run_author, e.hint_run_reason,
    e.hint_run_session_id, e.hint_run_user_id, e.hint_run_brain, e.hint_run_rule_id,
    e.person_paused_until, e.person_pause_reason, e.person_pause_user_id,
    e.planner_paused_until, e.planner_pause_reason, e.planner_pause_session_id,
    e.planner_pause_brain, e.planner_pause_rule_id,
    e.job_paused_until,
    greatest(e.person_paused_until, e.planner_paused_until, e.job_paused_until) AS paused_until,
    e.planner_changes, e.failure_count, e.not_before_at, e.last_run_at, e.last_slot_at,
    e.next_run_at, e.next_source, NULL::json AS plan,
    e.running_slot_at, e.running_is_manual, e.manual_slot_at
FROM endpoints AS e;

-- From when on an endpoint may be claimed by its own schedule; NULL: not as it is now. PostgreSQL
-- puts the expression into the statement that calls it, so that this costs no call.
CREATE FUNCTION claimable_from(e endpoints) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE
        -- In flight: when its worker is lost. A run that a person asked for is the sweep's alone.
        WHEN e.running_run_id IS NOT NULL AND e.running_is_manual THEN NULL
        WHEN e.running_run_id IS NOT NULL THEN coalesce(e.lease_until, '-infinity')
        WHEN e.archived_at IS NOT NULL THEN NULL
        WHEN e.manual_slot_at IS NOT NULL THEN NULL  -- what a person asked for comes first
        ELSE coalesce(
            greatest(e.person_paused_until, e.planner_paused_until, e.job_paused_until), '-infinity'
        )
    END
    $$;

-- What lists show of a run: all but its body and plan. Looked up by its key; the limit keeps a plan
-- from joining in another way.
CREATE FUNCTION listed_run(of_endpoint uuid, at_slot timestamptz)
    RETURNS TABLE (
        id uuid, endpoint_id uuid, slot_at timestamptz, source text, status text, attempt integer,
        is_manual boolean, started_at timestamptz, finished_at timestamptz, status_code integer,
        error_kind text, error_message text, skipped_slots integer, skipped_reason text
    )
    LANGUAGE sql STABLE
    AS $$
    SELECT r.id, r.endpoint_id, r.slot_at, r.source, r.status, r.attempt,
           r.is_manual, r.started_at, r.finished_at, r.status_code,
           r.error_kind, r.error_message, r.skipped_slots, r.skipped_reason
    FROM runs AS r
    WHERE r.endpoint_id = of_endpoint AND r.slot_at = at_slot
    LIMIT 1
    $$;

-- How an endpoint did over the last hour, four hours and day.
CREATE FUNCTION endpoint_health(of_endpoint uuid)
    RETURNS TABLE (
        runs_1h bigint, successes_1h bigint, runs_4h bigint, successes_4h bigint, runs_24h bigint,
        successes_24h bigint, mean_duration interval, outages bigint, state_changed_at timestamptz
    )
    LANGUAGE sql STABLE
    AS $$
    SELECT
        count(*) FILTER (WHERE run.finished_at > (SELECT cadenza_now()) - interval '1 hour'),
        count(*) FILTER (WHERE run.finished_at > (SELECT cadenza_now()) - interval '1 hour'
                           AND run.is_well),
        count(*) FILTER (WHERE run.finished_at > (SELECT cadenza_now()) - interval '4 hours'),
        count(*) FILTER (WHERE run.finished_at > (SELECT cadenza_now()) - interval '4 hours'
                           AND run.is_well),
        count(*),
        count(*) FILTER (WHERE run.is_well),
        avg(run.finished_at - run.started_at),
        -- how often it went from well to failing within the day, and when it last changed
        count(*) FILTER (WHERE run.was_well AND NOT run.is_well),
        max(run.finished_at) FILTER (WHERE run.was_well <> run.is_well)
    FROM (
        SELECT r.started_at, r.finished_at, r.status = 'success' AS is_well,
               lag(r.status = 'success') OVER (ORDER BY r.slot_at) AS was_well
        FROM runs AS r
        WHERE r.endpoint_id = of_endpoint
          -- By slot, which the key and the partitions are ordered by; a run ends at most an hour
          -- after it. The clock is a sub-select because an index cannot be searched by a value that
          -- may change from row to row.
          AND r.slot_at > (SELECT cadenza_now()) - interval '25 hours'
          AND r.finished_at > (SELECT cadenza_now()) - interval '24 hours'
          AND r.status IN ('success', 'failure', 'timeout')
    ) AS run
    $$;

-- Whether a call of a session was suggested, and can still be accepted.
CREATE FUNCTION can_be_accepted(call jsonb, now timestamptz) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT (call ->> 'open_until')::timestamptz > now
       AND call ->> 'suggested' = 'true'
       AND call ->> 'accepted_by' IS NULL
    $$;
