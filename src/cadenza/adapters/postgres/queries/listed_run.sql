r.id, r.endpoint_id, r.slot_at, r.source, r.status, r.attempt, r.is_manual,
r.started_at, r.finished_at, r.status_code, r.error_kind, r.error_message,
r.skipped_slots, r.skipped_reason
