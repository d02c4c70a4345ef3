-- Endpoints of a tenant by name.
SELECT NULL AS plan, {listed_endpoint}  -- how it was chosen is not listed
{endpoints_wanted}
  AND ($7::uuid IS NULL OR (e.name, e.id) > ($6::text, $7))
ORDER BY e.name, e.id
LIMIT $8
