-- One endpoint of a tenant, for an act on it.
SELECT cadenza_now() AS now, {endpoint_columns}, e.plan
FROM endpoints AS e
WHERE e.tenant_id = $1 AND e.id = $2
FOR UPDATE OF e
