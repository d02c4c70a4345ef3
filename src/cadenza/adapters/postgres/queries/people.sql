-- People: their roles, invitations, and who they are at a provider. Keys that are about to end.

-- name: find_user
-- A user by their id, and the time to judge by.
SELECT cadenza_now() AS now, u.*,
       (SELECT jsonb_object_agg(job_id, own.role) FROM job_roles AS own WHERE user_id = u.id)
           AS job_roles
FROM users AS u
WHERE u.id = $1

-- name: find_user_by_email
-- The user of a tenant who has this address.
SELECT u.*, (SELECT jsonb_object_agg(job_id, own.role) FROM job_roles AS own WHERE user_id = u.id)
    AS job_roles
FROM users AS u
WHERE u.tenant_id = $1 AND u.email = $2

-- name: find_tenant
-- A tenant by its name.
SELECT id FROM tenants WHERE name = $1

-- name: users_at_provider
-- Those who have signed in as this identity, or were given this address and have none yet; in
-- whichever tenants, the oldest first.
--   $1 issuer  $2 subject  $3 address
SELECT u.*, tenant.name AS tenant_name,
       (SELECT jsonb_object_agg(job_id, own.role) FROM job_roles AS own WHERE user_id = u.id)
           AS job_roles
FROM users AS u
JOIN tenants AS tenant ON tenant.id = u.tenant_id
WHERE (u.identity_issuer, u.identity_subject) = ($1, $2)
   OR (u.email = $3 AND u.identity_subject IS NULL)
ORDER BY u.created_at, u.id
LIMIT 100

-- name: save_user
-- What may change of a user, besides their roles for jobs.
UPDATE users
SET role = $3, email = $4, identity_issuer = $5, identity_subject = $6
WHERE tenant_id = $1 AND id = $2
RETURNING id

-- name: set_job_roles
-- The roles of a user for single jobs, in place of those before.
WITH gone AS (
    DELETE FROM job_roles WHERE user_id = $2 AND job_id <> ALL ($3::uuid[])
)
INSERT INTO job_roles (tenant_id, user_id, job_id, role)
SELECT $1, $2, given.* FROM unnest($3::uuid[], $4::text[]) AS given (job_id, role)
ON CONFLICT (user_id, job_id) DO UPDATE SET role = excluded.role

-- name: count_owners
-- How many owners a tenant has.
SELECT count(*) FROM users WHERE tenant_id = $1 AND role = 'owner'

-- name: known_job_ids
-- Which of these are jobs of a tenant.
SELECT id FROM jobs WHERE tenant_id = $1 AND id = ANY ($2::uuid[])

-- name: insert_invitation
-- An invitation that waits.
INSERT INTO invitations (id, tenant_id, email, role, job_roles, hash, invited_by, created_at,
                         expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: count_invitations
-- How many wait to be accepted.
SELECT count(*) FROM invitations
WHERE tenant_id = $1 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > cadenza_now()

-- name: list_invitations
-- Those of a tenant, newest first.
SELECT * FROM invitations WHERE tenant_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2

-- name: find_invitation
-- By the hash of its token, with its tenant's name and the time to judge it by.
SELECT cadenza_now() AS now, i.*, tenant.name AS tenant_name
FROM invitations AS i
JOIN tenants AS tenant ON tenant.id = i.tenant_id
WHERE i.hash = $1

-- name: lock_invitation
-- By the hash of its token, for the one who accepts it.
SELECT cadenza_now() AS now, i.* FROM invitations AS i WHERE i.hash = $1 FOR UPDATE

-- name: lock_invitation_by_id
-- One of a tenant, for a change of it.
SELECT cadenza_now() AS now, i.* FROM invitations AS i
WHERE i.tenant_id = $1 AND i.id = $2
FOR UPDATE

-- name: save_invitation
-- How it ended.
UPDATE invitations SET accepted_at = $2, revoked_at = $3 WHERE id = $1

-- name: delete_old_invitations
-- Those that ended long ago.
DELETE FROM invitations WHERE tenant_id = $1 AND expires_at < $2

-- name: take_expiring_keys
-- Keys whose end is to be told of, each given to one who asks, and once.
WITH due AS (
    SELECT id
    FROM api_keys
    WHERE expiry_notice_at <= cadenza_now() AND revoked_at IS NULL AND expiry_told_at IS NULL
    ORDER BY expiry_notice_at
    LIMIT $1
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE api_keys AS k
SET expiry_told_at = cadenza_now()
FROM due
WHERE k.id = due.id
RETURNING k.*
