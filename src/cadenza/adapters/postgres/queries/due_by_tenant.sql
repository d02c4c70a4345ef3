    -- more is due than there is room for: a share for each tenant, so that nobody waits behind
    -- another's backlog
    SELECT due.*
    FROM due_tenants
    CROSS JOIN LATERAL (
        SELECT e.id, e.tenant_id, e.host, coalesce(e.running_slot_at, e.next_run_at) AS slot_at
        FROM endpoints AS e
        WHERE e.tenant_id = due_tenants.id
          AND e.next_run_at <= (SELECT now + $3 FROM clock)
          AND e.next_run_at >= (SELECT begin FROM clock)
          AND {claimable}
        ORDER BY e.next_run_at
        LIMIT (SELECT greatest(1, 2 * $1 / greatest(1, count(*))) FROM due_tenants)
        FOR UPDATE OF e SKIP LOCKED
    ) AS due
