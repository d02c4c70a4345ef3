-- The same for those that did not end well.
WITH scanned AS MATERIALIZED (
    SELECT r.id, r.endpoint_id, r.slot_at, {run_is_wanted} AS wanted
    FROM failed_runs AS r
    {of_tenant}
),
{runs_wanted}
