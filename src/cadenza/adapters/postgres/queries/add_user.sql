-- A new user.
INSERT INTO users (id, tenant_id, name, created_at) VALUES ($1, $2, $3, $4)
