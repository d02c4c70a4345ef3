-- What an owner lets planners do with a job, in one place: what jobs had as a mode for every brain and
-- a budget of probes. What is not in it has its usual value (adapters/postgres/policy_rows.py).
ALTER TABLE jobs
    ADD COLUMN planner jsonb NOT NULL DEFAULT '{}'
        CHECK (jsonb_typeof(planner) = 'object'),
    ADD CONSTRAINT jobs_planner_modes_check CHECK (
        coalesce(planner ->> 'rules', 'off') IN ('off', 'advise', 'act')
        AND coalesce(planner ->> 'detectors', 'off') IN ('off', 'advise', 'act')
        AND coalesce(planner ->> 'llm', 'off') IN ('off', 'advise', 'act')
    );
ALTER TABLE tenants
    ADD COLUMN detectors_mode text NOT NULL DEFAULT 'act'
        CHECK (detectors_mode IN ('off', 'advise', 'act'));

UPDATE jobs
SET planner = jsonb_strip_nulls(jsonb_build_object(
    'rules', planner_mode,
    'detectors', planner_mode,
    'llm', planner_mode,
    'extra_runs', CASE WHEN probe_budget > 1 THEN probe_budget - 1 END
))
WHERE planner_mode IS NOT NULL OR probe_budget > 1;
UPDATE tenants SET detectors_mode = rules_mode WHERE rules_mode <> 'act';

-- The two columns stay for this version, unused, for programs that have not been restarted.
CREATE OR REPLACE VIEW stored_jobs AS
SELECT
    j.id, j.tenant_id, j.name, j.description, j.paused_until, j.archived_at, j.created_at,
    j.revision, j.rules, j.planner_mode, j.probe_budget,
    (SELECT count(*) FROM endpoints AS e
      WHERE e.job_id = j.id AND e.archived_at IS NULL) AS endpoint_count,
    j.planner
FROM jobs AS j;

-- A session that was only refused something, in a form that is compared: the same again is a count.
ALTER TABLE analysis_sessions
    ADD COLUMN refusal text,
    ADD COLUMN repeats integer NOT NULL DEFAULT 0 CHECK (repeats >= 0),
    ADD COLUMN last_at timestamptz;
CREATE INDEX refusals_of_endpoint ON analysis_sessions (endpoint_id, started_at)
    WHERE refusal IS NOT NULL;

-- The slot of the last run that a person asked for, and that has ended: hints cool down from it, too.
ALTER TABLE endpoints ADD COLUMN person_ran_at timestamptz;
CREATE OR REPLACE VIEW endpoint_states AS
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
    (SELECT job.name FROM jobs AS job WHERE job.id = e.job_id) AS job_name,
    e.person_ran_at
FROM endpoints AS e;
CREATE OR REPLACE VIEW listed_endpoints AS
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
    e.running_slot_at, e.running_is_manual, e.manual_slot_at, e.person_ran_at
FROM endpoints AS e;
