-- Lease endpoints with a reason for a costly look: the rules of domain/analysis.py.
WITH {look_candidates},
found AS (
    SELECT c.id, c.looked_at,
           row_number() OVER (
               ORDER BY (c.changed_at = c.last_finished_at) IS NOT TRUE, c.last_finished_at, c.id
           ) AS place
    FROM candidates AS c, clock
    WHERE (c.leased_until IS NULL OR c.leased_until <= clock.now)
      AND (
        c.asked_at > c.seen_at
     OR (
            c.last_finished_at > c.seen_at
        AND (
                c.looked_at IS NULL
             OR c.last_failed_at > c.looked_at
             OR c.next_analysis_at <= clock.now
            )
        )
     OR EXISTS (
            SELECT FROM endpoints AS sibling
            WHERE sibling.job_id = c.job_id AND sibling.id <> c.id
              AND sibling.archived_at IS NULL
              AND sibling.changed_at > c.seen_at
        )
      )
    ORDER BY place
    LIMIT $1
),
{lease_looks}
