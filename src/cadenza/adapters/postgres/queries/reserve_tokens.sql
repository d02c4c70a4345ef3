-- Set tokens aside, if that many are left this month.
INSERT INTO quotas (tenant_id, month, token_limit, reserved)
SELECT $1, to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM'), $3::bigint, $2::bigint
WHERE $3::bigint IS NULL OR $2::bigint <= $3::bigint
ON CONFLICT (tenant_id, month) DO UPDATE
SET reserved = quotas.reserved + excluded.reserved
WHERE quotas.token_limit IS NULL
   OR quotas.used + quotas.reserved + excluded.reserved <= quotas.token_limit
RETURNING month
