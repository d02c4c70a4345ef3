-- What may be spent on analysis by a tenant in a month, and by a job in a day: tokens and money, used
-- and set aside; always in the order of the fields of Allowance and Reservation.

-- name: quota
-- What a tenant may spend on analysis this month, and what is left of it.
SELECT to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM') AS month,
       q.token_limit, coalesce(q.used, 0) AS used, coalesce(q.reserved, 0) AS reserved,
       q.cost_limit, coalesce(q.cost_used, 0) AS cost_used,
       coalesce(q.cost_reserved, 0) AS cost_reserved, q.refused_at
FROM (SELECT) AS always
LEFT JOIN quotas AS q
    ON q.tenant_id = $1 AND q.month = to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM')

-- name: lock_allowance
-- What a tenant may spend in a month, for a change of it; made where nothing was used yet.
INSERT INTO quotas (tenant_id, month) VALUES ($1, $2)
ON CONFLICT (tenant_id, month) DO UPDATE SET month = excluded.month  -- which locks and returns it
RETURNING token_limit, used, reserved, cost_limit, cost_used, cost_reserved, refused_at

-- name: save_allowance
-- What a tenant may spend in a month, and has.
UPDATE quotas
SET token_limit = $3, used = $4, reserved = $5, cost_limit = $6, cost_used = $7,
    cost_reserved = $8, refused_at = $9
WHERE tenant_id = $1 AND month = $2

-- name: quotas_of_jobs
-- What each of these jobs may spend on analysis today, and what is left of it.
SELECT asked.job_id, to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
       q.token_limit, coalesce(q.used, 0) AS used, coalesce(q.reserved, 0) AS reserved,
       q.cost_limit, coalesce(q.cost_used, 0) AS cost_used,
       coalesce(q.cost_reserved, 0) AS cost_reserved, q.refused_at
FROM unnest($2::uuid[]) AS asked (job_id)
LEFT JOIN job_quotas AS q
    ON q.tenant_id = $1 AND q.job_id = asked.job_id
        AND q.day = to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')

-- name: lock_job_allowance
-- What a job may spend in a day, for a change of it; made where nothing was used yet.
INSERT INTO job_quotas (tenant_id, day, job_id) VALUES ($1, $2, $3)
ON CONFLICT (job_id, day) DO UPDATE SET day = excluded.day  -- which locks and returns it
RETURNING token_limit, used, reserved, cost_limit, cost_used, cost_reserved, refused_at

-- name: save_job_allowance
-- What a job may spend in a day, and has.
UPDATE job_quotas
SET token_limit = $4, used = $5, reserved = $6, cost_limit = $7, cost_used = $8,
    cost_reserved = $9, refused_at = $10
WHERE tenant_id = $1 AND day = $2 AND job_id = $3

-- name: insert_reservation
-- What is set aside for a session.
INSERT INTO quota_reservations (id, tenant_id, month, tokens, cost, job_id, day)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: take_reservation
-- A session has ended; what it settles, it settles once.
DELETE FROM quota_reservations WHERE id = $1
RETURNING id, tenant_id, month, tokens, cost, job_id, day

-- name: take_old_reservations
-- What planners had set aside and died with.
DELETE FROM quota_reservations WHERE tenant_id = $1 AND reserved_at < $2
RETURNING id, tenant_id, month, tokens, cost, job_id, day
