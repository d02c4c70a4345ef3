-- A new endpoint; what it schedules by is written right after it, in the same transaction.
INSERT INTO endpoints (id, tenant_id, job_id, name, created_at, target, host, secret_headers)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
