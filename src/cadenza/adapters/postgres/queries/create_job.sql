-- A new job.
INSERT INTO jobs (id, tenant_id, name, description, created_at)
VALUES ($1, $2, $3, $4, cadenza_now())
