-- The next runs of an endpoint, newest slot first.
SELECT r.*
FROM unnest(ARRAY[$2::uuid]) AS own (id)  -- found by its key, whatever a plan thinks of tenants
CROSS JOIN LATERAL (
    SELECT {listed_run}
    FROM runs AS r
    WHERE r.tenant_id = $1
      AND r.endpoint_id = own.id
      AND {slot_is_between}
    ORDER BY r.slot_at DESC
    LIMIT $6
) AS r
