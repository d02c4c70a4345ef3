runs.id, runs.endpoint_id, runs.slot_at, runs.source, runs.status, runs.attempt, runs.is_manual,
runs.started_at, runs.finished_at, runs.status_code, runs.error_kind, runs.error_message,
runs.skipped_slots, runs.skipped_reason
