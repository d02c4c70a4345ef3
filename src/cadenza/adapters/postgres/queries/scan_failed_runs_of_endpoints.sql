-- The same for those that did not end well.
WITH scanned AS MATERIALIZED (
    SELECT next.id, next.endpoint_id, next.slot_at, next.wanted
    FROM unnest($2::uuid[]) AS own (id)
    CROSS JOIN LATERAL (
        SELECT r.id, r.endpoint_id, r.slot_at, {run_is_wanted} AS wanted
        FROM failed_runs AS r
        {of_endpoint}
    ) AS next
    ORDER BY next.slot_at DESC, next.id DESC
    LIMIT $6
),
{runs_wanted}
