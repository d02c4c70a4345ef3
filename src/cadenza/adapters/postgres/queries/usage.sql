-- What a tenant has, what runs now, and how runs ended in about the last hour and day.
WITH clock AS MATERIALIZED (
    SELECT now,
           date_bin('5 minutes', now - interval '1 hour', 'epoch') AS hour_since,
           date_bin('5 minutes', now - interval '24 hours', 'epoch') AS day_since
    FROM (SELECT cadenza_now() AS now) AS asked
)
SELECT
    hour_since,
    day_since,
    (SELECT count(*) FROM jobs WHERE tenant_id = $1 AND archived_at IS NULL) AS jobs,
    endpoints.*,
    (
        SELECT coalesce(json_agg(json_build_array(status, last_hour, last_day)), '[]')
        FROM (
            SELECT status, sum(runs) FILTER (WHERE since >= hour_since) AS last_hour,
                   sum(runs) AS last_day
            FROM run_counts
            WHERE tenant_id = $1 AND since >= day_since
            GROUP BY status
        ) AS by_status
    ) AS statuses
FROM clock, (
    SELECT count(*) FILTER (WHERE archived_at IS NULL) AS endpoints, count(running_slot_at) AS running
    FROM endpoints
    WHERE tenant_id = $1
) AS endpoints
