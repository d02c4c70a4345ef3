-- Webhooks, and the outbox that notifiers work off.

-- name: insert_webhook
-- Which events are sent where.
INSERT INTO event_subscriptions (id, tenant_id, name, url, kinds, job_id, enabled, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: lock_webhook
-- One webhook, for a change of it.
SELECT * FROM event_subscriptions WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: save_webhook
-- As it is now.
UPDATE event_subscriptions
SET name = $2, url = $3, kinds = $4, job_id = $5, enabled = $6, disabled_reason = $7,
    failing_since = $8, last_error = $9
WHERE id = $1

-- name: delete_webhook
-- With its deliveries.
DELETE FROM event_subscriptions WHERE tenant_id = $1 AND id = $2 RETURNING id

-- name: count_webhooks
-- How many a tenant has.
SELECT count(*) FROM event_subscriptions WHERE tenant_id = $1

-- name: list_webhooks
-- Those of a tenant, by name.
SELECT * FROM event_subscriptions WHERE tenant_id = $1 ORDER BY name COLLATE "C"

-- name: webhooks_of
-- Those of several tenants that are enabled.
SELECT * FROM event_subscriptions WHERE tenant_id = ANY ($1::uuid[]) AND enabled

-- name: watch_for_webhooks
-- Runs that end well are events where a webhook wants them.
UPDATE tenants
SET watched_until = cadenza_now() + interval '10 minutes'
WHERE id IN (
    SELECT s.tenant_id FROM event_subscriptions AS s
    WHERE s.enabled AND EXISTS (
        SELECT FROM unnest(s.kinds) AS wanted
        WHERE 'run.finished' = wanted
           OR (right(wanted, 1) = '*' AND starts_with('run.finished', left(wanted, -1)))
    )
)
  AND (watched_until IS NULL OR watched_until < cadenza_now() + interval '8 minutes')

-- name: insert_deliveries
-- Into the outbox, with what causes them.
INSERT INTO deliveries (
    id, tenant_id, kind, channel_id, subscription_id, title, payload, created_at, due_at
)
SELECT *
FROM unnest(
    $1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], $7::json[],
    $8::timestamptz[], $9::timestamptz[]
)

-- name: get_delivery
-- One delivery of a tenant.
SELECT * FROM deliveries WHERE tenant_id = $1 AND id = $2

-- name: list_deliveries
-- Of a tenant, newest first, from one on.
--   $2 channel  $3 webhook  $4 status  $5, $6 time and id of the last one before  $7 how many
SELECT *
FROM deliveries
WHERE tenant_id = $1
  AND ($2::uuid IS NULL OR channel_id = $2)
  AND ($3::uuid IS NULL OR subscription_id = $3)
  AND ($4::text IS NULL OR status = $4)
  AND ($5::timestamptz IS NULL OR (created_at, id) < ($5, $6::uuid))
ORDER BY created_at DESC, id DESC
LIMIT $7

-- name: claim_deliveries
-- Lease what is due: no tenant, and no channel or webhook, beyond its limit.
--   $1 how many  $2 ahead  $3 lease  $4 worker  $5 per tenant  $6 per channel or webhook
--   $7, $8 tenants that are busy, how much  $9, $10 channels and webhooks likewise
WITH RECURSIVE
-- each that something waits for: one that has thousands waiting must not hide the others
dests AS (
    (SELECT coalesce(channel_id, subscription_id) AS id
     FROM deliveries WHERE status = 'waiting' ORDER BY 1 LIMIT 1)
    UNION ALL
    SELECT (
        SELECT coalesce(d.channel_id, d.subscription_id)
        FROM deliveries AS d
        WHERE d.status = 'waiting' AND coalesce(d.channel_id, d.subscription_id) > dests.id
        ORDER BY 1 LIMIT 1
    )
    FROM dests
    WHERE dests.id IS NOT NULL
),
due AS (
    SELECT d.id, d.tenant_id, dests.id AS dest, d.due_at
    FROM dests
    CROSS JOIN LATERAL (
        SELECT own.id, own.tenant_id, own.due_at
        FROM deliveries AS own
        WHERE own.status = 'waiting'
          AND coalesce(own.channel_id, own.subscription_id) = dests.id
          AND own.due_at <= (SELECT cadenza_now()) + $2::interval
          AND (own.lease_until IS NULL OR own.lease_until <= (SELECT cadenza_now()))
        ORDER BY own.due_at
        LIMIT $6::integer
    ) AS d
),
ranked AS (
    SELECT due.id, due.due_at,
           row_number() OVER (PARTITION BY due.tenant_id ORDER BY due.due_at, due.id)
               + coalesce(own.busy, 0) AS of_tenant,
           row_number() OVER (PARTITION BY due.dest ORDER BY due.due_at, due.id)
               + coalesce(there.busy, 0) AS of_dest
    FROM due
    LEFT JOIN unnest($7::uuid[], $8::integer[]) AS own (id, busy) ON own.id = due.tenant_id
    LEFT JOIN unnest($9::uuid[], $10::integer[]) AS there (id, busy) ON there.id = due.dest
    WHERE coalesce(there.busy, 0) < $6::integer
),
chosen AS (
    SELECT d.id
    FROM ranked
    JOIN deliveries AS d ON d.id = ranked.id
    WHERE ranked.of_dest <= $6::integer AND ranked.of_tenant <= $5::integer
    ORDER BY ranked.of_tenant, ranked.due_at
    LIMIT $1::integer
    FOR UPDATE OF d SKIP LOCKED
),
leased AS (
    UPDATE deliveries AS d
    SET lease_until = cadenza_now() + $3::interval, leased_by = $4, epoch = d.epoch + 1,
        attempt = d.attempt + 1
    FROM chosen
    WHERE d.id = chosen.id
      AND d.status = 'waiting'  -- another may have ended it while we waited for its row
      AND (d.lease_until IS NULL OR d.lease_until <= (SELECT cadenza_now()))
    RETURNING d.*
)
SELECT leased.*, coalesce(c.name, s.name) AS to_name, c.sealed, s.url
FROM leased
LEFT JOIN notification_channels AS c ON c.id = leased.channel_id
LEFT JOIN event_subscriptions AS s ON s.id = leased.subscription_id

-- name: next_delivery
-- When the next one becomes due, also by the end of a lease, and whether some are due already.
SELECT min(at) FILTER (WHERE at > cadenza_now()) AS at,
       coalesce(bool_or(at <= cadenza_now()), false) AS is_backlog
FROM (
    SELECT greatest(due_at, lease_until) AS at
    FROM deliveries WHERE status = 'waiting' ORDER BY due_at LIMIT 1000
) AS soonest

-- name: renew_deliveries
-- Extend the leases that are still ours.
UPDATE deliveries AS d
SET lease_until = cadenza_now() + $3::interval
FROM unnest($1::uuid[], $2::bigint[]) AS claim (id, epoch)
WHERE d.id = claim.id AND d.epoch = claim.epoch AND d.status = 'waiting'
  AND d.lease_until > cadenza_now()
RETURNING d.id

-- name: free_deliveries
-- Nothing was sent: they are as they were.
UPDATE deliveries AS d
SET lease_until = NULL, leased_by = NULL, attempt = d.attempt - 1
FROM unnest($1::uuid[], $2::bigint[]) AS claim (id, epoch)
WHERE d.id = claim.id AND d.epoch = claim.epoch AND d.status = 'waiting'

-- name: settle_deliveries
-- How sending ended, for those that are still ours.
--   $1 ids  $2 epochs  $3 statuses  $4 when again  $5 errors  $6 status codes
UPDATE deliveries AS d
SET status = result.status, due_at = result.due_at, error = result.error,
    status_code = result.status_code, lease_until = NULL, leased_by = NULL,
    finished_at = CASE WHEN result.status <> 'waiting' THEN cadenza_now() END
FROM unnest(
    $1::uuid[], $2::bigint[], $3::text[], $4::timestamptz[], $5::text[], $6::integer[]
) AS result (id, epoch, status, due_at, error, status_code)
WHERE d.id = result.id AND d.epoch = result.epoch AND d.status = 'waiting'
RETURNING d.id

-- name: hasten_deliveries
-- What waits for channels and webhooks that took nothing for long, and now do: the oldest first.
--   $1 channels and webhooks  $2 for how long
WITH back AS (
    SELECT id FROM notification_channels
    WHERE id = ANY ($1::uuid[]) AND failing_since < cadenza_now() - $2::interval
    UNION ALL
    SELECT id FROM event_subscriptions
    WHERE id = ANY ($1::uuid[]) AND failing_since < cadenza_now() - $2::interval
)
UPDATE deliveries AS d
SET due_at = d.created_at
FROM (
    SELECT own.id
    FROM back
    JOIN deliveries AS own ON coalesce(own.channel_id, own.subscription_id) = back.id
    WHERE own.status = 'waiting' AND own.lease_until IS NULL
    FOR UPDATE OF own SKIP LOCKED
) AS waiting
WHERE d.id = waiting.id

-- name: note_channel_health
-- How channels do, after one or several results.
--   $1 channels  $2 the last error, null where the last message was taken
--   $3 whether any was taken  $4 how many failed after that
UPDATE notification_channels AS c
SET failing_since = CASE WHEN result.error IS NULL THEN NULL
                         WHEN result.was_taken THEN cadenza_now()
                         ELSE coalesce(c.failing_since, cadenza_now()) END,
    failures = CASE WHEN result.was_taken THEN 0 ELSE c.failures END + result.failures,
    last_error = result.error,
    last_sent_at = CASE WHEN result.was_taken THEN cadenza_now() ELSE c.last_sent_at END
FROM unnest($1::uuid[], $2::text[], $3::boolean[], $4::integer[])
    AS result (id, error, was_taken, failures)
WHERE c.id = result.id

-- name: note_webhook_health
-- The same of webhooks.
UPDATE event_subscriptions AS s
SET failing_since = CASE WHEN result.error IS NULL THEN NULL
                         WHEN result.was_taken THEN cadenza_now()
                         ELSE coalesce(s.failing_since, cadenza_now()) END,
    last_error = result.error,
    last_sent_at = CASE WHEN result.was_taken THEN cadenza_now() ELSE s.last_sent_at END
FROM unnest($1::uuid[], $2::text[], $3::boolean[], $4::integer[])
    AS result (id, error, was_taken, failures)
WHERE s.id = result.id

-- name: disable_failing_webhooks
-- Those that have failed for long.
UPDATE event_subscriptions
SET enabled = false, disabled_reason = $2
WHERE enabled AND failing_since < $1
RETURNING *

-- name: failing_receivers
-- Channels and webhooks, of whichever tenant, that take nothing now: some of them.
SELECT found.what, t.name AS tenant, found.name, found.error
FROM (
    SELECT 'channel' AS what, tenant_id, name, last_error AS error
    FROM notification_channels WHERE enabled AND failing_since IS NOT NULL
    UNION ALL
    SELECT 'webhook', tenant_id, name, coalesce(disabled_reason, last_error)
    FROM event_subscriptions
    WHERE (enabled AND failing_since IS NOT NULL) OR disabled_reason IS NOT NULL
) AS found
JOIN tenants AS t ON t.id = found.tenant_id
ORDER BY t.name, found.what, found.name
LIMIT 20
