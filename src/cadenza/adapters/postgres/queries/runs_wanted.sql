reached AS (
    SELECT (SELECT count(*) FROM scanned) AS scanned, slot_at AS reached_at, id AS reached_id
    FROM scanned
    ORDER BY slot_at, id
    LIMIT 1
),
found AS (
    SELECT id, endpoint_id, slot_at
    FROM scanned
    WHERE wanted
    ORDER BY slot_at DESC, id DESC
    LIMIT $7
)
SELECT reached.*, run.*
FROM reached
LEFT JOIN (
    found
    CROSS JOIN LATERAL (
        SELECT {listed_run}
        FROM runs AS r
        WHERE r.endpoint_id = found.endpoint_id AND r.slot_at = found.slot_at
        LIMIT 1  -- found by its key, whatever a plan thinks of joins
    ) AS run
) ON true
ORDER BY run.slot_at DESC, run.id DESC
