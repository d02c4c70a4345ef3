-- Schedules of graphs.

-- name: insert_schedule
-- A new schedule.
INSERT INTO schedules (
    id, tenant_id, user_id, grant_id, name, graph_id, input, cron, timezone, concurrency, limits,
    requires, enabled, created_at, updated_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)

-- name: save_schedule
-- What may change of a schedule.
UPDATE schedules
SET name = $2, graph_id = $3, input = $4, cron = $5, timezone = $6, concurrency = $7, limits = $8,
    requires = $9, enabled = $10, grant_id = $11, deleted_at = $12, revision = $13,
    updated_at = $14
WHERE id = $1

-- name: get_schedules
-- Schedules by their ids, also deleted ones.
SELECT * FROM listed_schedules WHERE id = ANY ($1::uuid[])

-- name: get_schedule
-- One schedule of a tenant, also a deleted one.
SELECT * FROM listed_schedules WHERE tenant_id = $1 AND id = $2

-- name: lock_schedule
-- One change of a schedule at a time.
SELECT id FROM schedules
WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL
FOR NO KEY UPDATE

-- name: list_schedules
-- The schedules of a tenant that are not deleted, in the order of their ids.
SELECT * FROM listed_schedules
WHERE tenant_id = $1 AND deleted_at IS NULL
  AND ($2::text IS NULL OR name = $2)
  AND ($3::uuid IS NULL OR id > $3)
ORDER BY id
LIMIT $4

-- name: declared_schedules
-- Those that have a name, which a file may declare, with the account that pays.
SELECT s.*, a.id AS account_id, a.name AS account_name
FROM listed_schedules AS s
JOIN execution_grants AS g ON g.id = s.grant_id
JOIN accounts AS a ON a.id = g.account_id
WHERE s.tenant_id = $1 AND s.deleted_at IS NULL AND s.name IS NOT NULL
ORDER BY s.name COLLATE "C"

-- name: get_grants
-- Grants by their ids, for runs that start.
SELECT id, tenant_id, user_id, account_id, scopes, created_at, expires_at, revoked_at, schedule_id,
       endpoint_id
FROM execution_grants
WHERE id = ANY ($1::uuid[])
