-- What an endpoint answered, newest first.
SELECT slot_at, started_at, finished_at, status, status_code, body
FROM runs
WHERE endpoint_id = $1 AND status <> 'running'
ORDER BY slot_at DESC
LIMIT $2 OFFSET $3
