-- The endpoints of a job, by name.
SELECT {endpoint_columns}, e.plan
FROM endpoints AS e
WHERE e.tenant_id = $1 AND e.job_id = $2
ORDER BY e.name, e.id
