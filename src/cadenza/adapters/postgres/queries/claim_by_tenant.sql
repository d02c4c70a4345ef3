-- Claim due endpoints when there is a backlog: tenants are walked by index, from where the last
-- claim stopped, and at most so many of them at a time.
WITH RECURSIVE {claim_clock},
tenant_walk (id, due_at, seen) AS (
    (
        SELECT first.tenant_id, first.next_run_at, 1
        FROM endpoints AS first
        WHERE first.next_run_at IS NOT NULL AND first.tenant_id > $13
        ORDER BY first.tenant_id, first.next_run_at
        LIMIT 1
    )
    UNION ALL
    SELECT next.tenant_id, next.next_run_at, tenant_walk.seen + 1
    FROM tenant_walk
    CROSS JOIN LATERAL (
        SELECT later.tenant_id, later.next_run_at
        FROM endpoints AS later
        WHERE later.next_run_at IS NOT NULL AND later.tenant_id > tenant_walk.id
        ORDER BY later.tenant_id, later.next_run_at
        LIMIT 1
    ) AS next
    WHERE tenant_walk.seen < $14
),
due_tenants AS MATERIALIZED (
    SELECT id FROM tenant_walk
    WHERE due_at <= (SELECT now + $3 FROM clock) AND id <> ALL ($10::uuid[])
),
shares AS MATERIALIZED (
{due_by_tenant}
),
-- and what is due first in any case: the walk may have come past tenants with nothing to do only
earliest AS MATERIALIZED (
{due_in_order}
),
candidates AS (
    SELECT * FROM shares
    UNION
    SELECT * FROM earliest
),
{claim_candidates}
SELECT meta.*,
       (SELECT max(id::text)::uuid FROM tenant_walk HAVING count(*) >= $14) AS last_tenant_id,
       claimed.*
FROM meta LEFT JOIN claimed ON true
