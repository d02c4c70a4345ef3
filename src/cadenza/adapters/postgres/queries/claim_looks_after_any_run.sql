-- Lease endpoints that ran since they were last looked at, or whose sibling did.
WITH {look_candidates},
found AS (
    SELECT c.id, c.looked_at,
           row_number() OVER (
               ORDER BY (c.changed_at = c.last_finished_at) IS NOT TRUE, c.job_finished_at, c.job_id,
                        c.id  -- siblings together: what they share is read once
           ) AS place
    FROM candidates AS c, clock
    WHERE (c.leased_until IS NULL OR c.leased_until <= clock.now)
      AND greatest(c.job_finished_at, c.asked_at) > c.seen_at
    ORDER BY place
    LIMIT $1
),
{lease_looks}
