-- The users of a tenant, by name.
SELECT id, tenant_id, name, created_at FROM users WHERE tenant_id = $1 ORDER BY name LIMIT 10000
