-- End a key now; one that was revoked before keeps its time.
UPDATE api_keys
SET revoked_at = coalesce(revoked_at, cadenza_now())
WHERE tenant_id = $1 AND id = $2
RETURNING id, tenant_id, user_id, name, scopes, hash, created_at, expires_at, revoked_at,
          last_used_at
