-- Endpoints of a tenant by name.
SELECT {stored_endpoint}
{endpoints_wanted}
  AND ($7::uuid IS NULL OR (e.name, e.id) > ($6::text, $7))
ORDER BY e.name, e.id
LIMIT $8
