-- Ids by how they begin.

-- name: ids_between
-- Ids of one kind and tenant in a range. Of the rows that lie in it, also other tenants', so many
-- are read at most: a range that holds more is too wide to be of use.
--   $1 tenant  $2 kind  $3, $4 first and last  $5 how many are read  $6 how many are wanted
SELECT id FROM (
    (SELECT id, tenant_id FROM jobs
     WHERE $2 = 'job' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id FROM endpoints
     WHERE $2 = 'endpoint' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id FROM runs
     WHERE $2 = 'run' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id FROM analysis_sessions
     WHERE $2 = 'session' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id FROM schedules
     WHERE $2 = 'schedule' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id FROM schedule_runs
     WHERE $2 = 'schedule-run' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id FROM execution_grants
     WHERE $2 = 'grant' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id FROM accounts
     WHERE $2 = 'account' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id FROM incidents
     WHERE $2 = 'incident' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id FROM notification_routes
     WHERE $2 = 'route' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id FROM deliveries
     WHERE $2 = 'delivery' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
) AS begins
WHERE tenant_id = $1
ORDER BY id
LIMIT $6

-- name: ids_between_of_jobs
-- The same of some jobs; what belongs to no job is not among them.
--   $1 tenant  $2 kind  $3, $4 first and last  $5 how many are read  $6 how many are wanted  $7 jobs
SELECT id FROM (
    (SELECT id, tenant_id, id AS job_id FROM jobs
     WHERE $2 = 'job' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id, job_id FROM endpoints
     WHERE $2 = 'endpoint' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
    UNION ALL
    (SELECT r.id, r.tenant_id, (SELECT e.job_id FROM endpoints AS e WHERE e.id = r.endpoint_id)
     FROM runs AS r
     WHERE $2 = 'run' AND r.id BETWEEN $3 AND $4 ORDER BY r.id LIMIT $5)
    UNION ALL
    (SELECT id, tenant_id, job_id FROM analysis_sessions
     WHERE $2 = 'session' AND id BETWEEN $3 AND $4 ORDER BY id LIMIT $5)
) AS begins
WHERE tenant_id = $1 AND job_id = ANY ($7::uuid[])
ORDER BY id
LIMIT $6
