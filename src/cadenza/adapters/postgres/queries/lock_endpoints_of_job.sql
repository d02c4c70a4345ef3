-- The endpoints of a job, in the order in which everybody locks them.
SELECT cadenza_now() AS now, {endpoint_columns}, e.plan
FROM endpoints AS e
WHERE e.tenant_id = $1 AND e.job_id = $2 AND e.archived_at IS NULL
ORDER BY e.id
FOR UPDATE OF e
