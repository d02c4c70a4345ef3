-- What an owner declares about a job.
UPDATE jobs
SET description = $2, rules = $3, planner_mode = $4, probe_budget = $5, revision = revision + 1
WHERE id = $1
