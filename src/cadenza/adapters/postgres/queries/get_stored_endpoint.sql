-- One endpoint with what it calls.
SELECT {stored_endpoint}
FROM endpoints AS e
WHERE e.tenant_id = $1 AND e.id = $2
