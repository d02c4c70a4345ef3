-- One run of a tenant, with all that it left.
SELECT {run_columns}, runs.body, runs.plan
FROM runs
WHERE runs.tenant_id = $1 AND runs.id = $2
