-- Among the next so many sessions of a tenant, newest first: those that are wanted.
WITH scanned AS MATERIALIZED (
    SELECT s.id, s.started_at,
           ($9::text IS NULL OR s.reasoning ILIKE $9) AND ($8::text IS NULL OR s.brain = $8)
               AS wanted
    FROM analysis_sessions AS s
    WHERE s.tenant_id = $1
      AND ($2::uuid IS NULL OR s.endpoint_id = $2)
      AND ($10::uuid IS NULL OR s.job_id = $10)
      AND s.started_at >= coalesce($3::timestamptz, '-infinity')
      AND (s.started_at, s.id) < (
          coalesce($4::timestamptz, 'infinity'),
          coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      )
    ORDER BY s.started_at DESC, s.id DESC
    LIMIT $6
),
reached AS (
    SELECT (SELECT count(*) FROM scanned) AS scanned, started_at AS reached_at, id AS reached_id
    FROM scanned
    ORDER BY started_at, id
    LIMIT 1
),
found AS (
    SELECT id FROM scanned WHERE wanted ORDER BY started_at DESC, id DESC LIMIT $7
)
SELECT reached.*, {session_columns}
FROM reached
LEFT JOIN (found JOIN analysis_sessions AS s USING (id)) ON true
ORDER BY s.started_at DESC, s.id DESC
