-- Where the planner is stopped everywhere, and what its modes were.

-- name: get_planner_stop
-- That of one tenant.
SELECT tenant_id, stopped_at, stopped_by, reason, modes, jobs
FROM planner_stops
WHERE tenant_id = $1

-- name: save_planner_stop
-- A stop, or what is remembered since with one that is there.
INSERT INTO planner_stops (tenant_id, stopped_at, stopped_by, reason, modes, jobs)
VALUES ($1, $2, $3, $4, $5::json, $6::json)
ON CONFLICT (tenant_id) DO UPDATE SET modes = EXCLUDED.modes, jobs = EXCLUDED.jobs

-- name: delete_planner_stop
-- It is started again.
DELETE FROM planner_stops WHERE tenant_id = $1
