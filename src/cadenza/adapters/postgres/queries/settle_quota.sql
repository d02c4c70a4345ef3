-- Turn what was set aside into what was used; what was settled before is not there any more.
WITH settled AS (
    DELETE FROM quota_reservations WHERE id = $1
    RETURNING tenant_id, month, tokens, cost
)
UPDATE quotas AS q
SET reserved = greatest(0, q.reserved - settled.tokens),
    used = q.used + $2,
    cost_reserved = greatest(0, q.cost_reserved - settled.cost),
    cost_used = q.cost_used + $3
FROM settled
WHERE q.tenant_id = settled.tenant_id AND q.month = settled.month
RETURNING q.token_limit, q.used, q.cost_limit, q.cost_used
