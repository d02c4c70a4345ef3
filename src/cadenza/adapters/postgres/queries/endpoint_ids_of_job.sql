-- Which endpoints a job has and had.
SELECT id FROM endpoints WHERE tenant_id = $1 AND job_id = $2
