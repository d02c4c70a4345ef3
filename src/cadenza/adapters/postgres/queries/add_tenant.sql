-- A new tenant.
INSERT INTO tenants (id, name, created_at, retention_days) VALUES ($1, $2, $3, $4)
