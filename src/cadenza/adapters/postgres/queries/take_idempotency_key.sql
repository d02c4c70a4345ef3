-- Take a key for a create; nothing where it was taken before.
INSERT INTO idempotency_keys (tenant_id, key, fingerprint, created_id)
VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING
RETURNING created_id
