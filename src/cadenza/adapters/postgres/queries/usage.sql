-- What a tenant has, and how its newest runs ended: no more of them than this are counted.
WITH counted AS MATERIALIZED (
    SELECT r.slot_at, r.status
    FROM runs AS r
    WHERE r.tenant_id = $1
      AND r.slot_at > (SELECT cadenza_now()) - interval '24 hours'
      AND r.slot_at <= (SELECT cadenza_now())
    ORDER BY r.slot_at DESC
    LIMIT $2
)
SELECT
    cadenza_now() AS now,
    (SELECT count(*) FROM jobs WHERE tenant_id = $1 AND archived_at IS NULL) AS jobs,
    (SELECT count(*) FROM endpoints WHERE tenant_id = $1 AND archived_at IS NULL) AS endpoints,
    (SELECT count(*) FROM counted) AS counted,
    (SELECT min(slot_at) FROM counted) AS oldest_at,
    (
        SELECT coalesce(json_agg(json_build_array(status, last_hour, last_day)), '[]')
        FROM (
            SELECT status,
                   count(*) FILTER (
                       WHERE slot_at > (SELECT cadenza_now()) - interval '1 hour') AS last_hour,
                   count(*) AS last_day
            FROM counted
            GROUP BY status
        ) AS by_status
    ) AS statuses
