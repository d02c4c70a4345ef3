-- The state of an installation in a few figures, for whoever watches it.

-- name: due_backlog
-- How many endpoints are due and not claimed ($1 at most of each kind of worker), and the first slot
-- of them in seconds ago. Kinds of workers are few, and each has its end of the index.
WITH RECURSIVE kinds AS (
    (SELECT e.runs_on FROM endpoints AS e
     WHERE e.next_run_at IS NOT NULL ORDER BY e.runs_on LIMIT 1)
    UNION ALL
    SELECT (SELECT e.runs_on FROM endpoints AS e
            WHERE e.next_run_at IS NOT NULL AND e.runs_on > kinds.runs_on
            ORDER BY e.runs_on LIMIT 1)
    FROM kinds WHERE kinds.runs_on IS NOT NULL
)
SELECT count(due.next_run_at) AS due,
       coalesce(extract(epoch FROM cadenza_now() - min(due.next_run_at)), 0)::float8 AS oldest
FROM kinds
CROSS JOIN LATERAL (
    SELECT e.next_run_at
    FROM endpoints AS e
    WHERE e.runs_on = kinds.runs_on
      AND e.next_run_at BETWEEN '-infinity' AND cadenza_now()
      AND claimable_from(e) <= cadenza_now()
    ORDER BY e.next_run_at
    LIMIT $1
) AS due

-- name: open_incidents
-- How many are open, by how bad they are.
SELECT severity, count(*) AS incidents FROM incidents WHERE resolved_at IS NULL GROUP BY severity

-- name: oldest_delivery
-- How many seconds the first delivery has been due that nobody has taken; none: 0.
SELECT coalesce((
    SELECT extract(epoch FROM cadenza_now() - due_at)
    FROM deliveries
    WHERE status = 'waiting' AND due_at <= cadenza_now()
      AND (lease_until IS NULL OR lease_until <= cadenza_now())
    ORDER BY due_at
    LIMIT 1
), 0)::float8

-- name: quota_shares
-- What is used of this month's limits: the highest of all tenants, and of those that are named ($1).
WITH shares AS (
    SELECT q.tenant_id,
           q.used::float8 / nullif(q.token_limit, 0) AS tokens,
           q.cost_used / nullif(q.cost_limit, 0) AS dollars
    FROM quotas AS q
    WHERE q.month = to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM')
)
SELECT NULL::text AS name, max(tokens) AS tokens, max(dollars) AS dollars FROM shares
UNION ALL
SELECT t.name, s.tokens, s.dollars
FROM tenants AS t LEFT JOIN shares AS s ON s.tenant_id = t.id
WHERE t.name = ANY ($1::text[])
