-- Endpoints that ran since they were last looked at, or whose sibling did.
SELECT e.id
FROM endpoints AS e
WHERE e.archived_at IS NULL
  AND e.tenant_id <> ALL ($2::uuid[])
  AND (
        greatest(e.last_finished_at, e.asked_at) > coalesce(e.looked_at, '-infinity')
     OR EXISTS (
            SELECT FROM endpoints AS sibling
            WHERE sibling.job_id = e.job_id AND sibling.id <> e.id
              AND sibling.archived_at IS NULL
              AND sibling.last_finished_at > coalesce(e.looked_at, '-infinity')
        )
      )
ORDER BY (e.changed_at = e.last_finished_at) IS NOT TRUE, e.last_finished_at
LIMIT $1
