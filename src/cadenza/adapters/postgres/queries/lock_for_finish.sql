-- The endpoints whose results still count, fresh and locked.
SELECT
    cadenza_now() AS now,
    {endpoint_columns},
    CASE WHEN e.running_is_manual THEN e.plan END AS plan,
    e.running_run_id,
    -- looked up once, and null nearly always
    (SELECT array_agg(id) FROM tenants WHERE watched_until > (SELECT cadenza_now())) AS watched
{held_claims}
