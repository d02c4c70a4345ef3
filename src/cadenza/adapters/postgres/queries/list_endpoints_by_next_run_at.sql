-- Endpoints of a tenant by their next run; those that have none are not due at all.
SELECT NULL AS plan, {listed_endpoint}  -- how it was chosen is not listed
{endpoints_wanted}
  AND e.next_run_at IS NOT NULL
  AND ($7::uuid IS NULL OR (e.next_run_at, e.id) > ($6::text::timestamptz, $7))
ORDER BY e.next_run_at, e.id
LIMIT $8
