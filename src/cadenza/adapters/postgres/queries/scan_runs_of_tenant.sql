-- Among the next so many runs of a tenant, newest slot first: those that are wanted.
WITH scanned AS MATERIALIZED (
    SELECT r.id, r.endpoint_id, r.slot_at, {run_is_wanted} AS wanted
    FROM runs AS r
    {of_tenant}
),
{runs_wanted}
