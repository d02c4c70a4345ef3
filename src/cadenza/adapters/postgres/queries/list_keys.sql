-- The keys of a tenant, the oldest first.
SELECT id, tenant_id, user_id, name, scopes, hash, created_at, expires_at, revoked_at, last_used_at
FROM api_keys
WHERE tenant_id = $1
ORDER BY created_at, id
LIMIT 10000
