-- The runs of an endpoint, newest slot first.
SELECT id, endpoint_id, tenant_id, slot_at, source, status, attempt, epoch, is_manual, claimed_at,
       started_at, finished_at, status_code, error_kind, error_message, body, plan,
       skipped_slots, skipped_reason
FROM runs
WHERE tenant_id = $1 AND endpoint_id = $2
ORDER BY slot_at DESC
LIMIT $3 OFFSET $4
