-- Runs of tenants that keep theirs for a shorter time than everybody else, a batch at a time.
DELETE FROM runs
USING (
    SELECT old.endpoint_id, old.slot_at
    FROM tenants
    JOIN endpoints ON endpoints.tenant_id = tenants.id
    CROSS JOIN LATERAL (
        SELECT runs.endpoint_id, runs.slot_at
        FROM runs
        WHERE runs.endpoint_id = endpoints.id
          AND runs.slot_at < $1::timestamptz - make_interval(days => tenants.retention_days)
          AND runs.status <> 'running'
        LIMIT 5000
    ) AS old
    WHERE tenants.retention_days IS NOT NULL
    LIMIT 5000
) AS old
WHERE runs.endpoint_id = old.endpoint_id AND runs.slot_at = old.slot_at
