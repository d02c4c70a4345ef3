-- Incidents, channels, routes, and what they have told.

-- name: lock_feed
-- Up to where events have been looked at; nothing where another notifier is at it. And whether they
-- have numbers that this server has not given yet: then they were restored from another.
SELECT xact::text AS xact, id,
       greatest(xact, (SELECT e.xact FROM events AS e ORDER BY e.xact DESC LIMIT 1))
           >= pg_snapshot_xmax(pg_current_snapshot()) AS are_of_another_server
FROM notifier_position
FOR UPDATE SKIP LOCKED

-- name: renumber_events
-- Those that have been looked at come before the others, in the order that they had.
WITH position AS (
    UPDATE notifier_position AS now SET xact = pg_current_xact_id(), id = 0
    FROM notifier_position AS before
    RETURNING before.xact, before.id
)
UPDATE events
SET xact = CASE WHEN (events.xact, events.id) <= (position.xact, position.id)
                THEN '3'::xid8  -- the first that there is
                ELSE pg_current_xact_id() END
FROM position

-- name: read_feed
-- The next events of all tenants, up to the oldest transaction that may still commit before them.
SELECT tenant_id, xact::text AS xact, id, at, kind, job_id, endpoint_id, data
FROM events
WHERE (xact, id) > ($1::text::xid8, $2::bigint)
  AND xact < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY events.xact, events.id  -- not by the text of it
LIMIT $3

-- name: most_receivers
-- How many routes, or webhooks, the tenant has that has most.
SELECT coalesce(max(receivers.count), 0)
FROM (
    SELECT count(*) FROM notification_routes WHERE enabled GROUP BY tenant_id
    UNION ALL
    SELECT count(*) FROM event_subscriptions WHERE enabled GROUP BY tenant_id
) AS receivers

-- name: move_feed
-- They have been looked at.
UPDATE notifier_position SET xact = $1::text::xid8, id = $2

-- name: no_whole_tables
-- For this transaction: what is late, paused or failing is a few of many endpoints. How few PostgreSQL
-- cannot know of a moment that it is told only when it looks.
SET LOCAL enable_seqscan = off

-- name: differing_conditions
-- What holds now without an open incident, or with one of another level. What a person closed stays
-- closed until it begins anew.
--   $1 kinds  $2, $3 levels: kinds and from which measure on  $4 how many
SELECT c.*
FROM incident_conditions AS c
CROSS JOIN LATERAL (
    SELECT count(*) AS level
    FROM unnest($2::text[], $3::integer[]) AS step (kind, least)
    WHERE step.kind = c.kind AND c.measure >= step.least
) AS now
LEFT JOIN LATERAL (  -- by its index, one for each
    SELECT own.level FROM incidents AS own
    WHERE own.tenant_id = c.tenant_id AND own.kind = c.kind AND own.subject = c.subject
      AND own.resolved_at IS NULL
    LIMIT 1
) AS i ON true
WHERE c.kind = ANY ($1::text[])
  AND now.level > 0
  AND i.level IS DISTINCT FROM now.level
  AND NOT EXISTS (
      SELECT FROM incidents AS closed
      WHERE closed.tenant_id = c.tenant_id AND closed.kind = c.kind AND closed.subject = c.subject
        AND closed.resolved_at >= c.since AND closed.resolved_by <> 'state'
  )
LIMIT $4

-- name: lock_gone_incidents
-- Open incidents whose condition holds no more, or whose end has come. The two sets are compared as
-- sets: in a flood that PostgreSQL has no statistics of yet, a join would look through all conditions
-- for each incident.
--   $1 kinds, of those that the state of things decides  $2 how many
WITH gone AS (
    (
        SELECT tenant_id, kind, subject FROM incidents
        WHERE resolved_at IS NULL AND kind = ANY ($1::text[])
        EXCEPT
        SELECT tenant_id, kind, subject FROM incident_conditions WHERE kind = ANY ($1::text[])
    )
    UNION
    SELECT tenant_id, kind, subject FROM incidents
    WHERE resolved_at IS NULL AND ends_at <= (SELECT cadenza_now())
)
SELECT i.*
FROM gone
JOIN incidents AS i
    ON i.tenant_id = gone.tenant_id AND i.kind = gone.kind AND i.subject = gone.subject
   AND i.resolved_at IS NULL  -- a person may have closed it meanwhile
ORDER BY i.id
LIMIT $2
FOR UPDATE OF i

-- name: lock_latest_incidents
-- Of each subject, the open incident, or the one that ended last.
SELECT i.*
FROM incidents AS i
WHERE i.id IN (
    SELECT latest.id
    FROM unnest($1::uuid[], $2::text[], $3::text[]) AS key (tenant_id, kind, subject)
    CROSS JOIN LATERAL (
        SELECT own.id FROM incidents AS own
        WHERE own.tenant_id = key.tenant_id AND own.kind = key.kind AND own.subject = key.subject
        ORDER BY own.resolved_at DESC NULLS FIRST
        LIMIT 1
    ) AS latest
)
ORDER BY i.id
FOR UPDATE OF i

-- name: last_errors
-- What the last failed run of each endpoint said.
SELECT e.id AS endpoint_id, r.status, r.status_code, r.error_kind,
       left(r.error_message, 300) AS error_message
FROM unnest($1::uuid[]) AS wanted (id)
JOIN endpoints AS e ON e.id = wanted.id
CROSS JOIN LATERAL (
    SELECT f.slot_at
    FROM failed_runs AS f
    WHERE f.tenant_id = e.tenant_id AND f.endpoint_id = e.id
      AND f.status IN ('failure', 'timeout')
    ORDER BY f.slot_at DESC
    LIMIT 1
) AS last
JOIN runs AS r ON r.endpoint_id = e.id AND r.slot_at = last.slot_at

-- name: recovered
-- Endpoints, of some that failed, that do not fail now.
SELECT id FROM endpoints WHERE id = ANY ($1::uuid[]) AND failure_count = 0

-- name: job_names
-- What jobs are called, for people.
SELECT id, name FROM jobs WHERE id = ANY ($1::uuid[])

-- name: lock_incident
-- One incident, for a change of it.
SELECT * FROM incidents WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: save_incidents
-- New ones, and those that changed.
INSERT INTO incidents (
    id, tenant_id, kind, subject, name, job_id, endpoint_id, level, severity, measure, detail,
    times, opened_at, updated_at, ends_at, acknowledged_at, acknowledged_by, resolved_at, resolved_by
)
SELECT *
FROM unnest(
    $1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::uuid[],
    $8::integer[], $9::text[], $10::integer[], $11::text[], $12::integer[], $13::timestamptz[],
    $14::timestamptz[], $15::timestamptz[], $16::timestamptz[], $17::text[], $18::timestamptz[],
    $19::text[]
)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, level = excluded.level, severity = excluded.severity,
    measure = excluded.measure, detail = excluded.detail, times = excluded.times,
    updated_at = excluded.updated_at, ends_at = excluded.ends_at,
    acknowledged_at = excluded.acknowledged_at, acknowledged_by = excluded.acknowledged_by,
    resolved_at = excluded.resolved_at, resolved_by = excluded.resolved_by

-- name: list_incidents
-- Of a tenant, newest first, from one on.
--   $2 open or not  $3 kind  $4 job  $5, $6 time and id of the last one before  $7 how many
--   $8 jobs
SELECT *
FROM incidents
WHERE tenant_id = $1
  AND ($2::boolean IS NULL OR (resolved_at IS NULL) = $2)
  AND ($3::text IS NULL OR kind = $3)
  AND ($4::uuid IS NULL OR job_id = $4)
  AND ($5::timestamptz IS NULL OR (opened_at, id) < ($5, $6::uuid))
  AND ($8::uuid[] IS NULL OR job_id = ANY ($8))
ORDER BY opened_at DESC, id DESC
LIMIT $7

-- name: get_incident
-- One incident of a tenant.
SELECT * FROM incidents WHERE tenant_id = $1 AND id = $2

-- name: insert_channel
-- Where messages go.
INSERT INTO notification_channels (id, tenant_id, name, service, shown, sealed, enabled, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: lock_channel
-- One channel, for a change of it.
SELECT * FROM notification_channels WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: save_channel
-- Another name or URL; a URL that is null stays, another begins without trouble.
UPDATE notification_channels
SET name = $2, service = $3, shown = $4, sealed = coalesce($5, sealed), enabled = $6,
    failing_since = CASE WHEN $5::text IS NULL THEN failing_since END,
    failures = CASE WHEN $5::text IS NULL THEN failures ELSE 0 END,
    last_error = CASE WHEN $5::text IS NULL THEN last_error END
WHERE id = $1

-- name: delete_channel
-- With its routes and deliveries.
DELETE FROM notification_channels WHERE tenant_id = $1 AND id = $2 RETURNING id

-- name: count_channels
-- How many a tenant has.
SELECT count(*) FROM notification_channels WHERE tenant_id = $1

-- name: list_channels
-- Those of a tenant, by name.
SELECT * FROM notification_channels WHERE tenant_id = $1 ORDER BY name COLLATE "C"

-- name: insert_route
-- Which incidents a channel is told of.
INSERT INTO notification_routes (
    id, tenant_id, channel_id, job_id, kinds, min_severity, quiet_from, quiet_to, quiet_timezone,
    critical_passes, group_ms, cooldown_ms, tells_recovery, enabled, created_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)

-- name: lock_route
-- One route, for a change of it.
SELECT * FROM notification_routes WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: save_route
-- As it is now.
UPDATE notification_routes
SET channel_id = $3, job_id = $4, kinds = $5, min_severity = $6, quiet_from = $7, quiet_to = $8,
    quiet_timezone = $9, critical_passes = $10, group_ms = $11, cooldown_ms = $12,
    tells_recovery = $13, enabled = $14, created_at = $15
WHERE id = $1 AND tenant_id = $2

-- name: delete_route
-- With what it has told.
DELETE FROM notification_routes WHERE tenant_id = $1 AND id = $2 RETURNING id

-- name: list_routes
-- Those of a tenant, the oldest first.
SELECT * FROM notification_routes WHERE tenant_id = $1 ORDER BY created_at, id

-- name: routes_of
-- Those of several tenants that tell somebody.
SELECT r.*
FROM notification_routes AS r
JOIN notification_channels AS c ON c.id = r.channel_id
WHERE r.tenant_id = ANY ($1::uuid[]) AND r.enabled AND c.enabled

-- name: announcements_of
-- What routes have told of subjects.
SELECT a.*
FROM unnest($2::text[], $3::text[]) AS key (kind, subject)
JOIN announcements AS a
    ON a.kind = key.kind AND a.subject = key.subject AND a.route_id = ANY ($1::uuid[])

-- name: save_announcements
-- What has been told, and when more is to be.
INSERT INTO announcements (
    route_id, kind, subject, tenant_id, incident_id, told, told_state, due_at, not_before_at
)
SELECT *
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::jsonb[], $7::text[],
    $8::timestamptz[], $9::timestamptz[]
)
ON CONFLICT (route_id, kind, subject) DO UPDATE SET
    incident_id = excluded.incident_id, told = excluded.told, told_state = excluded.told_state,
    due_at = excluded.due_at, not_before_at = excluded.not_before_at, changed_at = cadenza_now()

-- name: plan_announcements_anew
-- The route has changed: what it has yet to tell is judged at the next look.
UPDATE announcements SET due_at = cadenza_now(), not_before_at = cadenza_now()
WHERE route_id = $1 AND due_at IS NOT NULL

-- name: due_announcements
-- Of routes that have something to tell now: all that may be told with it.
WITH due AS (
    SELECT DISTINCT route_id FROM (
        SELECT route_id FROM announcements WHERE due_at <= (SELECT cadenza_now())
        ORDER BY due_at LIMIT $1
    ) AS earliest
)
SELECT a.*
FROM due
JOIN announcements AS a ON a.route_id = due.route_id
WHERE a.due_at IS NOT NULL AND a.not_before_at <= (SELECT cadenza_now())
ORDER BY a.route_id, a.due_at
LIMIT $1

-- name: get_incidents
-- By id, whoever they belong to.
SELECT * FROM incidents WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE

-- name: get_routes
-- By id, whoever they belong to; those that tell nobody too.
SELECT r.*, c.enabled AND r.enabled AS tells
FROM notification_routes AS r
JOIN notification_channels AS c ON c.id = r.channel_id
WHERE r.id = ANY ($1::uuid[])
