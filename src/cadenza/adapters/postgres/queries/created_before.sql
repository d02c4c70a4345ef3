-- What was created when a key was first told.
SELECT fingerprint, created_id FROM idempotency_keys WHERE tenant_id = $1 AND key = $2
