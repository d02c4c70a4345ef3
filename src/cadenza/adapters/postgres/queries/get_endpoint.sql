-- One endpoint of a tenant.
SELECT {endpoint_columns}, e.plan
FROM endpoints AS e
WHERE e.tenant_id = $1 AND e.id = $2
