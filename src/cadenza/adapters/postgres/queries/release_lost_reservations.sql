-- Give back what a planner had set aside and died with: no session lasts a day.
WITH lost AS (
    DELETE FROM quota_reservations
    WHERE tenant_id = $1 AND reserved_at < cadenza_now() - interval '1 day'
    RETURNING month, tokens, cost
), sums AS (
    SELECT month, sum(tokens) AS tokens, sum(cost) AS cost FROM lost GROUP BY month
)
UPDATE quotas AS q
SET reserved = greatest(0, q.reserved - sums.tokens),
    cost_reserved = greatest(0, q.cost_reserved - sums.cost)
FROM sums
WHERE q.tenant_id = $1 AND q.month = sums.month
