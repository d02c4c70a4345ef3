-- What a tenant may spend on analysis this month, and what is left of it.
SELECT to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM') AS month,
       q.token_limit, coalesce(q.used, 0) AS used, coalesce(q.reserved, 0) AS reserved,
       q.cost_limit, coalesce(q.cost_used, 0) AS cost_used,
       coalesce(q.cost_reserved, 0) AS cost_reserved, q.refused_at
FROM (SELECT) AS always
LEFT JOIN quotas AS q
    ON q.tenant_id = $1 AND q.month = to_char(cadenza_now() AT TIME ZONE 'UTC', 'YYYY-MM')
