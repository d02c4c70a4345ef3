-- The jobs of a tenant by name.
{stored_job}
WHERE j.tenant_id = $1
  AND (j.archived_at IS NOT NULL) = $2
  AND ($3::text IS NULL OR j.name = $3)
  AND ($4::text IS NULL OR j.name ILIKE $4 OR j.description ILIKE $4)
  AND ($6::uuid IS NULL OR (j.name, j.id) > ($5::text, $6))
ORDER BY j.name, j.id
LIMIT $7
