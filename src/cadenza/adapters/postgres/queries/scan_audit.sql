-- Among the next so many deeds of a tenant, newest first: those that are wanted.
WITH scanned AS MATERIALIZED (
    SELECT a.id, a.at,
           ($8::text IS NULL OR a.actor ILIKE $8) AND ($9::text IS NULL OR a.action = $9) AS wanted
    FROM audit_log AS a
    WHERE a.tenant_id = $1
      AND ($2::text[] IS NULL OR a.subject = ANY ($2))
      AND a.at >= coalesce($3::timestamptz, '-infinity')
      AND (a.at, a.id) < (
          coalesce($4::timestamptz, 'infinity'), coalesce($5::bigint, 9223372036854775807)
      )
    ORDER BY a.at DESC, a.id DESC
    LIMIT $6
),
reached AS (
    SELECT (SELECT count(*) FROM scanned) AS scanned, at AS reached_at, id AS reached_id
    FROM scanned
    ORDER BY at, id
    LIMIT 1
),
found AS (
    SELECT id FROM scanned WHERE wanted ORDER BY at DESC, id DESC LIMIT $7
)
SELECT reached.*, a.id, a.at, a.actor, a.action, a.subject, a.data
FROM reached
LEFT JOIN (found JOIN audit_log AS a USING (id)) ON true
ORDER BY a.at DESC, a.id DESC
