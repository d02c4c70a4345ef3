-- The keys of a tenant that have not ended, newest first.
SELECT id, tenant_id, secret, created_at, retires_at
FROM signing_keys
WHERE tenant_id = $1 AND (retires_at IS NULL OR retires_at > cadenza_now())
ORDER BY created_at DESC
