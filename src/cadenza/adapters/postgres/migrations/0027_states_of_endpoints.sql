-- Whether an endpoint is in a state that lists ask for: once, for all their orders. Volatile as the
-- clock that it asks, or it would be called for each row in place of being part of the plan.
CREATE FUNCTION is_in_state(
    state text, paused_until timestamptz, failure_count integer, next_run_at timestamptz,
    running_slot_at timestamptz, hinted_until timestamptz
)
RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
AS $$
SELECT CASE state
    WHEN 'paused' THEN paused_until > cadenza_now()
    WHEN 'active' THEN (paused_until > cadenza_now()) IS NOT TRUE
    WHEN 'failing' THEN failure_count > 0
    WHEN 'late' THEN next_run_at < cadenza_now() - interval '10 seconds'
        AND running_slot_at IS NULL
    WHEN 'hinted' THEN hinted_until > cadenza_now()
    ELSE true
END
$$;
