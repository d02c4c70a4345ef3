-- Let a key end at an instant, unless it ends before that already.
UPDATE api_keys
SET expires_at = least(expires_at, $3)
WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL
  AND (expires_at IS NULL OR expires_at > cadenza_now())
RETURNING id
