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
