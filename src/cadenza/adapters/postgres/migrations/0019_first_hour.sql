-- The first hour: failures need not slow an endpoint down.

-- The owner's choice: whether failures in a row double its interval.
ALTER TABLE endpoints ADD COLUMN backs_off boolean NOT NULL DEFAULT true;
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
    e.person_ran_at, e.backs_off
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
    e.running_slot_at, e.running_is_manual, e.manual_slot_at, e.person_ran_at, e.backs_off
FROM endpoints AS e;
