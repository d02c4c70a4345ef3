-- Tenants, their users, and the users' keys.

-- name: insert_tenant
-- A new tenant.
INSERT INTO tenants (id, name, created_at, retention_days, rules_mode, llm_mode, detectors_mode,
                     planner_account_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: get_tenant
-- One tenant.
SELECT id, name, created_at, retention_days, rules_mode, llm_mode, detectors_mode,
       planner_account_id
FROM tenants
WHERE id = $1

-- name: lock_tenant
-- One change of a tenant at a time; also tells the time.
SELECT cadenza_now() AS now, id, name, created_at, retention_days, rules_mode, llm_mode,
       detectors_mode, planner_account_id
FROM tenants
WHERE id = $1
FOR NO KEY UPDATE

-- name: save_tenant
-- What may be changed of a tenant.
UPDATE tenants
SET name = $2, retention_days = $3, rules_mode = $4, llm_mode = $5, detectors_mode = $6,
    planner_account_id = $7
WHERE id = $1

-- name: delete_tenant
-- A tenant with everything of it: what has a foreign key by itself, the other tables here.
WITH gone AS (DELETE FROM tenants WHERE id = $1 RETURNING id),
     gone_runs AS (DELETE FROM runs USING gone WHERE tenant_id = gone.id),
     gone_failures AS (DELETE FROM failed_runs USING gone WHERE tenant_id = gone.id),
     gone_counts AS (DELETE FROM run_counts USING gone WHERE tenant_id = gone.id),
     gone_attempts AS (DELETE FROM run_attempts USING gone WHERE tenant_id = gone.id),
     gone_results AS (DELETE FROM late_results USING gone WHERE tenant_id = gone.id),
     gone_creates AS (DELETE FROM idempotency_keys USING gone WHERE tenant_id = gone.id)
SELECT id FROM gone

-- name: list_tenants
-- All tenants, in the order of their ids.
SELECT id, name, created_at, retention_days, rules_mode, llm_mode, detectors_mode,
       planner_account_id
FROM tenants
WHERE id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000')
ORDER BY id
LIMIT $2

-- name: insert_user
-- A new user.
INSERT INTO users (id, tenant_id, name, created_at, role, email, identity_issuer, identity_subject)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: get_user
-- One user of a tenant.
SELECT u.*, (SELECT jsonb_object_agg(job_id, own.role) FROM job_roles AS own WHERE user_id = u.id)
    AS job_roles
FROM users AS u
WHERE u.tenant_id = $1 AND u.id = $2

-- name: delete_user
-- A user, and with them their keys.
DELETE FROM users WHERE tenant_id = $1 AND id = $2 RETURNING name

-- name: list_users
-- The users of a tenant, by name.
SELECT u.*, (SELECT jsonb_object_agg(job_id, own.role) FROM job_roles AS own WHERE user_id = u.id)
    AS job_roles
FROM users AS u
WHERE u.tenant_id = $1
ORDER BY u.name
LIMIT 10000

-- name: insert_key
-- A new key.
INSERT INTO api_keys (id, tenant_id, user_id, name, scopes, hash, created_at, expires_at, job_ids,
                      expiry_notice_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: find_key
-- A key by its id, with the user it acts for, and the time to judge it by.
SELECT cadenza_now() AS now, k.*, u.name AS user_name, u.created_at AS user_created_at,
       u.role, u.email, u.identity_issuer, u.identity_subject,
       (SELECT jsonb_object_agg(job_id, own.role) FROM job_roles AS own WHERE user_id = u.id)
           AS job_roles
FROM api_keys AS k
JOIN users AS u ON u.id = k.user_id
WHERE k.id = $1

-- name: lock_key
-- One key of a tenant, for a change of it.
SELECT cadenza_now() AS now, k.* FROM api_keys AS k WHERE k.tenant_id = $1 AND k.id = $2 FOR UPDATE

-- name: save_key
-- When a key ends.
UPDATE api_keys SET expires_at = $2, revoked_at = $3, expiry_notice_at = $4 WHERE id = $1

-- name: touch_key
-- Note that a key was used, to the minute: not a write with every request.
UPDATE api_keys
SET last_used_at = cadenza_now()
WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < cadenza_now() - interval '1 minute')

-- name: list_keys
-- The keys of a tenant, the oldest first.
SELECT k.* FROM api_keys AS k WHERE k.tenant_id = $1 ORDER BY k.created_at, k.id LIMIT 10000
