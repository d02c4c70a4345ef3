-- The end of a job.
UPDATE jobs SET archived_at = cadenza_now(), revision = revision + 1 WHERE id = $1
