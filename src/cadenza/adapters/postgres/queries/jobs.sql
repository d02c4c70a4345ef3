-- Jobs, as their owners declare and change them.

-- name: insert_job
-- A new job.
INSERT INTO jobs (
    id, name, description, rules, planner, paused_until, archived_at, tenant_id, created_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: save_job
-- Everything that may change of a job.
UPDATE jobs
SET name = $2, description = $3, rules = $4, planner = $5, paused_until = $6, archived_at = $7,
    revision = revision + 1
WHERE id = $1

-- name: get_job
-- One job of a tenant.
SELECT cadenza_now() AS now, j.*
FROM stored_jobs AS j
WHERE j.tenant_id = $1 AND j.id = $2

-- name: lock_job
-- The same, for a change of it.
SELECT cadenza_now() AS now, j.*
FROM stored_jobs AS j
WHERE j.tenant_id = $1 AND j.id = $2
FOR NO KEY UPDATE OF j

-- name: lock_jobs
-- All jobs of a tenant, in one order everywhere, for changes of any of them.
SELECT FROM jobs WHERE tenant_id = $1 AND archived_at IS NULL ORDER BY id FOR NO KEY UPDATE

-- name: share_job
-- The job that a new endpoint goes into: it must not end or pause meanwhile.
SELECT cadenza_now() AS now, j.*
FROM stored_jobs AS j
WHERE j.tenant_id = $1 AND j.id = $2
FOR SHARE OF j

-- name: list_jobs
-- The jobs of a tenant by name.
--   $2 whether the archived  $3 name  $4 a piece of name or description
--   $5, $6 name and id of the last one before this page  $7 how many  $8 only these jobs
SELECT cadenza_now() AS now, j.*
FROM stored_jobs AS j
WHERE j.tenant_id = $1
  AND (j.archived_at IS NOT NULL) = $2
  AND ($3::text IS NULL OR j.name = $3)
  AND ($4::text IS NULL OR j.name ILIKE $4 OR j.description ILIKE $4)
  AND ($6::uuid IS NULL OR (j.name, j.id) > ($5::text, $6))
  AND ($8::uuid[] IS NULL OR j.id = ANY ($8))
ORDER BY j.name, j.id
LIMIT $7
