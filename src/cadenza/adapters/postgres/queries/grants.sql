-- Grants, and the runs that asked for them.

-- name: list_grants
-- The grants of a tenant, newest first, from one on.
SELECT id, tenant_id, user_id, account_id, scopes, created_at, expires_at, revoked_at, schedule_id,
       endpoint_id
FROM execution_grants
WHERE tenant_id = $1
  AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3::uuid))
ORDER BY created_at DESC, id DESC
LIMIT $4

-- name: get_grant
-- One grant of a tenant.
SELECT id, tenant_id, user_id, account_id, scopes, created_at, expires_at, revoked_at, schedule_id,
       endpoint_id
FROM execution_grants
WHERE tenant_id = $1 AND id = $2

-- name: lock_grant
-- One grant of a tenant, for a change of it; also tells the time.
SELECT cadenza_now() AS now, id, tenant_id, user_id, account_id, scopes, created_at, expires_at,
       revoked_at, schedule_id, endpoint_id
FROM execution_grants
WHERE tenant_id = $1 AND id = $2
FOR NO KEY UPDATE

-- name: insert_grant
-- A new grant.
INSERT INTO execution_grants (id, tenant_id, user_id, account_id, scopes, created_at, expires_at,
                              schedule_id, expiry_notice_at, endpoint_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: save_grant
-- When it was revoked, and for which schedule it was made.
UPDATE execution_grants SET revoked_at = $2, schedule_id = $3 WHERE id = $1

-- name: revoke_grants_of_user
-- What a user gave is taken back with them.
UPDATE execution_grants
SET revoked_at = cadenza_now()
WHERE tenant_id = $1 AND user_id = $2 AND revoked_at IS NULL

-- name: revoke_grants_of_endpoints
-- What was made for endpoints ends with them.
UPDATE execution_grants
SET revoked_at = cadenza_now()
WHERE endpoint_id = ANY ($1::uuid[]) AND revoked_at IS NULL
RETURNING id

-- name: log_grant_uses
-- Runs that asked for grants, with why they were refused; once for each run of a grant, where a
-- refusal stays.
INSERT INTO grant_uses (grant_id, run_id, tenant_id, graph_id, refusal)
SELECT DISTINCT ON (used.grant_id, used.run_id)
       used.grant_id, used.run_id, g.tenant_id, used.graph_id, used.refusal
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[])
    AS used (grant_id, run_id, graph_id, refusal)
JOIN execution_grants AS g ON g.id = used.grant_id
ORDER BY used.grant_id, used.run_id, used.refusal
ON CONFLICT (grant_id, run_id) DO UPDATE
    SET refusal = coalesce(excluded.refusal, grant_uses.refusal)

-- name: last_grant_uses
-- The last uses of a grant, newest first.
SELECT grant_id, run_id, graph_id, refusal, at
FROM grant_uses
WHERE grant_id = $1
ORDER BY at DESC, run_id DESC
LIMIT $2

-- name: take_expiring_grants
-- Grants whose end is to be told of, each given to one who asks, and once.
WITH due AS (
    SELECT id
    FROM execution_grants
    WHERE expiry_notice_at <= cadenza_now() AND revoked_at IS NULL AND expiry_told_at IS NULL
    ORDER BY expiry_notice_at
    LIMIT $1
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE execution_grants AS g
SET expiry_told_at = cadenza_now()
FROM due
WHERE g.id = due.id
RETURNING g.id, g.tenant_id, g.user_id, g.account_id, g.scopes, g.created_at, g.expires_at,
          g.revoked_at, g.schedule_id, g.endpoint_id
