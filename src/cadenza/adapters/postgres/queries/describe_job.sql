-- What a job is for.
UPDATE jobs SET description = $2, revision = revision + 1 WHERE id = $1
