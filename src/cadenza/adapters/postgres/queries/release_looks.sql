-- Give back what was leased and not looked at.
UPDATE looks SET leased_until = NULL, leased_by = NULL
WHERE endpoint_id = ANY ($1::uuid[]) AND brain = $2 AND leased_by = $3
