-- One endpoint with what it calls, for a change of it.
SELECT {stored_endpoint}
FROM endpoints AS e
WHERE e.tenant_id = $1 AND e.id = $2
FOR UPDATE OF e
