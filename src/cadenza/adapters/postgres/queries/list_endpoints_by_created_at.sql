-- Endpoints of a tenant, the oldest first.
SELECT NULL AS plan, {listed_endpoint}  -- how it was chosen is not listed
{endpoints_wanted}
  AND ($7::uuid IS NULL OR (e.created_at, e.id) > ($6::text::timestamptz, $7))
ORDER BY e.created_at, e.id
LIMIT $8
