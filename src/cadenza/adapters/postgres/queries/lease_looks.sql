leased AS (
    INSERT INTO looks AS look (endpoint_id, brain, looked_at, leased_until, leased_by)
    SELECT found.id, $2, found.looked_at, clock.now + $4, $3
    FROM found, clock
    ORDER BY found.id  -- in one order everywhere, so that no two planners wait in a circle
    ON CONFLICT (endpoint_id, brain) DO UPDATE
    SET leased_until = excluded.leased_until, leased_by = excluded.leased_by
    -- Another planner may have taken it, or looked at it and gone, since we read it.
    WHERE (look.leased_until IS NULL OR look.leased_until <= cadenza_now())
      AND look.looked_at IS NOT DISTINCT FROM excluded.looked_at
    RETURNING look.endpoint_id
)
SELECT found.id
FROM found
JOIN leased ON leased.endpoint_id = found.id
ORDER BY found.place