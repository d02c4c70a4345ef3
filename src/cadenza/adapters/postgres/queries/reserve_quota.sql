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
