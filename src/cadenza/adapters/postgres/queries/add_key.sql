-- A new key.
INSERT INTO api_keys (id, tenant_id, user_id, name, scopes, hash, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
