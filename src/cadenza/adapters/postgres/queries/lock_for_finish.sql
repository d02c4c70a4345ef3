-- The endpoints whose results still count, fresh and locked.
SELECT
    cadenza_now() AS now,
    {endpoint_columns},
    CASE WHEN e.running_is_manual THEN e.plan END AS plan,
    e.running_run_id
{held_claims}
