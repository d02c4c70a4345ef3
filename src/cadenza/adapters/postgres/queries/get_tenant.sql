-- One tenant.
SELECT id, name, created_at, retention_days FROM tenants WHERE id = $1
