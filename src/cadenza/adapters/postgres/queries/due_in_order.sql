    -- whatever is due, the earliest first: fair as long as nothing is left over
    SELECT e.id, e.tenant_id, e.host, coalesce(e.running_slot_at, e.next_run_at) AS slot_at
    FROM endpoints AS e
    WHERE e.next_run_at <= (SELECT now + $3 FROM clock)
      AND e.next_run_at >= (SELECT begin FROM clock)  -- a plan expects few between two ends
      AND {claimable}
    ORDER BY e.next_run_at
    LIMIT $1
    FOR UPDATE OF e SKIP LOCKED
