-- How an endpoint has done over the last hour, four hours and day.
SELECT e.failure_count, health.*
FROM endpoints AS e
CROSS JOIN LATERAL (
    {health_windows}
) AS health
WHERE e.tenant_id = $1 AND e.id = $2
