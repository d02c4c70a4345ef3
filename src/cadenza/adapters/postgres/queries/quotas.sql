-- What a tenant may spend on analysis in a month: tokens and money, used and set aside.

-- name: quota
-- What a tenant may spend on analysis this month, and what is left of it.
SELECT to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM') AS month,
       q.token_limit, coalesce(q.used, 0) AS used, coalesce(q.reserved, 0) AS reserved,
       q.cost_limit, coalesce(q.cost_used, 0) AS cost_used,
       coalesce(q.cost_reserved, 0) AS cost_reserved, q.refused_at
FROM (SELECT) AS always
LEFT JOIN quotas AS q
    ON q.tenant_id = $1 AND q.month = to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM')

-- name: reserve_quota
-- Set tokens and money aside, if that much is left this month, by the limits of now.
WITH granted AS (
    INSERT INTO quotas (tenant_id, month, token_limit, reserved, cost_limit, cost_reserved)
    SELECT
        $1, to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM'),
        $4::bigint, $2::bigint, $5::double precision, $3::double precision
    WHERE ($4::bigint IS NULL OR $2::bigint <= $4::bigint)
      AND ($5::double precision IS NULL OR $3::double precision <= $5::double precision)
    ON CONFLICT (tenant_id, month) DO UPDATE
    SET token_limit = excluded.token_limit,
        cost_limit = excluded.cost_limit,
        reserved = quotas.reserved + excluded.reserved,
        cost_reserved = quotas.cost_reserved + excluded.cost_reserved,
        refused_at = NULL
    WHERE (excluded.token_limit IS NULL
           OR quotas.used + quotas.reserved + excluded.reserved <= excluded.token_limit)
      AND (excluded.cost_limit IS NULL
           OR quotas.cost_used + quotas.cost_reserved + excluded.cost_reserved
              <= excluded.cost_limit)
    RETURNING month
)
INSERT INTO quota_reservations (id, tenant_id, month, tokens, cost)
SELECT gen_random_uuid(), $1, month, $2::bigint, $3::double precision
FROM granted
RETURNING id, month

-- name: refuse_quota
-- Not enough is left for a session: since when that is so, and by which limits.
INSERT INTO quotas AS q (tenant_id, month, token_limit, cost_limit, refused_at)
VALUES (
    $1, to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM'),
    $2::bigint, $3::double precision, cadenza_now()
)
ON CONFLICT (tenant_id, month) DO UPDATE
SET token_limit = excluded.token_limit,
    cost_limit = excluded.cost_limit,
    refused_at = coalesce(q.refused_at, excluded.refused_at)

-- name: settle_quota
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

-- name: release_lost_reservations
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
