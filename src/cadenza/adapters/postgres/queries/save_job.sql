-- Everything that may change of a job.
UPDATE jobs
SET name = $2, description = $3, rules = $4, planner_mode = $5, probe_budget = $6,
    paused_until = $7, archived_at = $8, revision = revision + 1
WHERE id = $1
