INSERT INTO signing_keys (id, tenant_id, secret, created_at) VALUES ($1, $2, $3, $4)
