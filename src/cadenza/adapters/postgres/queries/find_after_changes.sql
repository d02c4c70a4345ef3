-- Endpoints with a reason for a costly look: the rules of domain/analysis.py, as one query.
SELECT e.id
FROM endpoints AS e
WHERE e.archived_at IS NULL
  AND e.tenant_id <> ALL ($2::uuid[])
  AND (
        e.asked_at > coalesce(e.looked_at, '-infinity')
     OR (
            e.last_finished_at > coalesce(e.looked_at, '-infinity')
        AND (
                e.looked_at IS NULL
             OR e.last_failed_at > e.looked_at
             OR e.next_analysis_at <= cadenza_now()
            )
        )
     OR EXISTS (
            SELECT FROM endpoints AS sibling
            WHERE sibling.job_id = e.job_id AND sibling.id <> e.id
              AND sibling.archived_at IS NULL
              AND sibling.changed_at > coalesce(e.looked_at, '-infinity')
        )
      )
ORDER BY (e.changed_at = e.last_finished_at) IS NOT TRUE, e.last_finished_at
LIMIT $1
