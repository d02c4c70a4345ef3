-- Endpoints that ran since they were last looked at, those whose state changed first.
SELECT e.id
FROM endpoints AS e
WHERE e.archived_at IS NULL
  AND e.tenant_id <> ALL ($2::uuid[])
  AND greatest(e.last_finished_at, e.asked_at) > coalesce(e.looked_at, '-infinity')
ORDER BY (e.changed_at = e.last_finished_at) IS NOT TRUE, e.last_finished_at
LIMIT $1
