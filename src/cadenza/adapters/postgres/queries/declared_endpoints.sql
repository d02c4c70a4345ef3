-- The endpoints of a tenant that are not archived, with what they call.
SELECT {stored_endpoint}
FROM endpoints AS e
WHERE e.tenant_id = $1 AND e.archived_at IS NULL
ORDER BY e.name
