-- What was done and what happened: audit log, idempotency records, events, sessions.

-- name: add_audit
-- Who did what, in the transaction that did it.
INSERT INTO audit_log (tenant_id, actor, action, subject, data) VALUES ($1, $2, $3, $4, $5)

-- name: add_audits
-- The same for many at once.
INSERT INTO audit_log (tenant_id, actor, action, subject, data)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::jsonb[])

-- name: scan_audit
-- Among the next so many entries of a tenant, newest first: those that are wanted.
--   $2 subjects  $3 from  $4, $5 time and id of the last one before  $6 how many to read
--   $7 how many entries  $8 a piece of the actor  $9 action
WITH scanned AS MATERIALIZED (
    SELECT a.id, a.at,
           ($8::text IS NULL OR a.actor ILIKE $8)
           AND ($9::text IS NULL OR a.action = $9) AS is_wanted
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
    FROM scanned ORDER BY at, id LIMIT 1
),
wanted AS (SELECT id FROM scanned WHERE is_wanted ORDER BY at DESC, id DESC LIMIT $7)
SELECT reached.*, a.id, a.at, a.actor, a.action, a.subject, a.data
FROM reached
LEFT JOIN (wanted JOIN audit_log AS a USING (id)) ON true
ORDER BY a.at DESC, a.id DESC

-- name: take_idempotency_key
-- Take a key for a create; nothing where it was taken before.
INSERT INTO idempotency_keys (tenant_id, key, fingerprint, created_id)
VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING
RETURNING created_id

-- name: get_idempotency_key
-- What was created when a key was first sent.
SELECT fingerprint, created_id FROM idempotency_keys WHERE tenant_id = $1 AND key = $2

-- name: add_events
-- What happened, for whoever follows, in the transaction that did it.
WITH added AS (
    INSERT INTO events (kind, tenant_id, job_id, endpoint_id, data)
    SELECT kind, tenant_id, job_id, endpoint_id, data
    FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::uuid[], $5::jsonb[])
        AS event (kind, tenant_id, job_id, endpoint_id, data)
    RETURNING id
)
SELECT pg_notify('cadenza_events', '') FROM (SELECT FROM added LIMIT 1) AS anything

-- name: read_events
-- The next events of a tenant, up to the oldest transaction that may still commit before them.
SELECT xact::text AS xact, id, at, kind, job_id, endpoint_id, data
FROM events
WHERE tenant_id = $1
  AND (xact, id) > ($2::text::xid8, $3::bigint)
  AND xact < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY events.xact, events.id  -- not by the text of it
LIMIT $4

-- name: last_event
-- The newest event of a tenant that nothing can come before any more.
SELECT xact::text AS xact, id
FROM events
WHERE tenant_id = $1 AND xact < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY events.xact DESC, events.id DESC  -- not by the text of it
LIMIT 1

-- name: event_is_kept
-- Whether an event is still there, and with it everything after it.
SELECT EXISTS (
    SELECT FROM events WHERE tenant_id = $1 AND xact = $2::text::xid8 AND id = $3::bigint
)

-- name: watch_tenant
-- Somebody follows the events of a tenant; not a write with every read of them.
UPDATE tenants
SET watched_until = cadenza_now() + interval '10 minutes'
WHERE id = $1
  AND (watched_until IS NULL OR watched_until < cadenza_now() + interval '9 minutes')

-- name: get_session
-- One session in full.
SELECT s.*, e.name AS endpoint_name
FROM analysis_sessions AS s
JOIN endpoints AS e ON e.id = s.endpoint_id
WHERE s.tenant_id = $1 AND s.id = $2

-- name: lock_session
-- The same, for the one who accepts a suggestion of it first.
SELECT s.*, e.name AS endpoint_name
FROM analysis_sessions AS s
JOIN endpoints AS e ON e.id = s.endpoint_id
WHERE s.tenant_id = $1 AND s.id = $2
FOR UPDATE OF s

-- name: scan_sessions
-- Among the next so many sessions of a tenant, newest first: those that are wanted.
--   $2 endpoint  $3 from  $4, $5 time and id of the last one before  $6 how many to read
--   $7 how many sessions  $8 brain  $9 a piece of the reasoning  $10 job
--   $11 only these jobs
WITH scanned AS MATERIALIZED (
    SELECT s.id, s.started_at,
           ($9::text IS NULL OR s.reasoning ILIKE $9)
           AND ($8::text IS NULL OR s.brain = $8) AS is_wanted
    FROM analysis_sessions AS s
    WHERE s.tenant_id = $1
      AND ($2::uuid IS NULL OR s.endpoint_id = $2)
      AND ($10::uuid IS NULL OR s.job_id = $10)
      AND ($11::uuid[] IS NULL OR s.job_id = ANY ($11))
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
    FROM scanned ORDER BY started_at, id LIMIT 1
),
wanted AS (SELECT id FROM scanned WHERE is_wanted ORDER BY started_at DESC, id DESC LIMIT $7)
SELECT reached.*, s.*
FROM reached
LEFT JOIN (wanted JOIN analysis_sessions AS s USING (id)) ON true
ORDER BY s.started_at DESC, s.id DESC
