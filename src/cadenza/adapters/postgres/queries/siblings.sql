-- The other endpoints of the same job, each with its latest answer.
SELECT {endpoint_columns}, e.plan,
       latest.slot_at AS latest_slot_at, latest.started_at AS latest_started_at,
       latest.finished_at AS latest_finished_at, latest.status AS latest_status,
       latest.status_code AS latest_status_code, latest.body AS latest_body
FROM endpoints AS own
JOIN endpoints AS e ON e.job_id = own.job_id AND e.id <> own.id AND e.archived_at IS NULL
LEFT JOIN LATERAL (
    SELECT r.slot_at, r.started_at, r.finished_at, r.status, r.status_code, r.body
    FROM runs AS r
    WHERE r.endpoint_id = e.id AND r.status <> 'running'
    ORDER BY r.slot_at DESC
    LIMIT 1
) AS latest ON true
WHERE own.id = $1
ORDER BY e.name
