-- The endpoints of every job that these endpoints belong to, each once, with its latest answer.
SELECT {endpoint_columns}, e.plan,
       latest.slot_at AS latest_slot_at, latest.started_at AS latest_started_at,
       latest.finished_at AS latest_finished_at, latest.status AS latest_status,
       latest.status_code AS latest_status_code,
       CASE WHEN length(latest.body::text) <= $2 THEN latest.body END AS latest_body
FROM endpoints AS e
LEFT JOIN LATERAL (
    SELECT r.slot_at, r.started_at, r.finished_at, r.status, r.status_code, r.body
    FROM runs AS r
    WHERE r.endpoint_id = e.id AND r.status <> 'running'
    ORDER BY r.slot_at DESC
    LIMIT 1
) AS latest ON true
WHERE e.archived_at IS NULL
  AND e.job_id IN (SELECT own.job_id FROM endpoints AS own WHERE own.id = ANY($1::uuid[]))
ORDER BY e.name
