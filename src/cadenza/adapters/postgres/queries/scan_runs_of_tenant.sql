-- Among the next so many runs of a tenant, newest slot first: those that are wanted.
WITH scanned AS MATERIALIZED (
    SELECT r.id, r.endpoint_id, r.slot_at, {run_is_wanted} AS wanted
    FROM runs AS r
    WHERE r.tenant_id = $1
      AND {slot_is_between}
    ORDER BY r.slot_at DESC, r.id DESC
    LIMIT $6
),
{runs_wanted}
