-- Everything that may change of a job.
UPDATE jobs
SET name = $2, description = $3, paused_until = $4, archived_at = $5, revision = revision + 1
WHERE id = $1
