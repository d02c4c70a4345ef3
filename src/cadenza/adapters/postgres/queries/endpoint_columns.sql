e.id, e.tenant_id, e.job_id, e.name, e.created_at, e.archived_at,
e.baseline_interval_ms, e.baseline_cron, e.timezone, e.min_interval_ms, e.max_interval_ms,
e.hint_interval_ms, e.hint_interval_expires_at, e.hint_interval_author, e.hint_interval_reason,
e.hint_run_at, e.hint_run_expires_at, e.hint_run_author, e.hint_run_reason,
e.person_paused_until, e.person_pause_reason, e.planner_paused_until, e.planner_pause_reason,
e.job_paused_until, e.planner_changes,
e.failure_count, e.not_before_at, e.last_run_at, e.last_slot_at,
e.running_slot_at, e.running_is_manual, e.manual_slot_at,
e.hint_interval_session_id, e.hint_run_session_id, e.planner_pause_session_id
