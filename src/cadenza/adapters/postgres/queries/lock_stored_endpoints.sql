-- These endpoints with what they call, in the order in which everybody locks them.
SELECT {stored_endpoint}
FROM endpoints AS e
WHERE e.id = ANY ($1::uuid[])
ORDER BY e.id
FOR UPDATE OF e
