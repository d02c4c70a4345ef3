-- Signing keys, and values that are sealed with a master key.

-- name: insert_signing_key
-- A key that signs from now on.
INSERT INTO signing_keys (id, tenant_id, secret, created_at) VALUES ($1, $2, $3, $4)

-- name: list_signing_keys
-- The keys of a tenant that have not ended, newest first.
SELECT id, tenant_id, secret, created_at, retires_at
FROM signing_keys
WHERE tenant_id = $1 AND (retires_at IS NULL OR retires_at > cadenza_now())
ORDER BY created_at DESC

-- name: retire_signing_keys
-- Keys that have ended go; those that sign end at this instant, or sooner where they do already.
WITH ended AS (
    DELETE FROM signing_keys WHERE tenant_id = $1 AND retires_at <= $2
)
UPDATE signing_keys
SET retires_at = least(retires_at, $3::timestamptz)
WHERE tenant_id = $1 AND (retires_at IS NULL OR retires_at > $2)

-- name: sealed_by_key
-- How many sealed values need each master key.
SELECT split_part(sealed, ':', 2) AS key_id, count(*) AS held
FROM (
    SELECT header.value AS sealed
    FROM endpoints AS e, jsonb_each_text(e.secret_headers) AS header
    UNION ALL
    SELECT secret FROM signing_keys
    UNION ALL
    SELECT sealed FROM virtual_keys WHERE sealed IS NOT NULL
    UNION ALL
    SELECT sealed FROM notification_channels
) AS every
GROUP BY key_id
ORDER BY key_id

-- name: outdated_headers
-- A batch of endpoints, by id, with headers that another master key than this one sealed.
SELECT e.id, e.tenant_id, e.secret_headers AS sealed
FROM endpoints AS e
WHERE e.id > $2
  AND EXISTS (
      SELECT FROM jsonb_each_text(e.secret_headers) AS header
      WHERE split_part(header.value, ':', 2) <> $1
  )
ORDER BY e.id
LIMIT $3

-- name: replace_headers
-- Write what was sealed anew, where it is still what was read. A row that a worker holds is left
-- for the next round: nobody waits for anybody.
WITH free AS (
    SELECT e.id
    FROM endpoints AS e
    WHERE e.id = ANY ($1::uuid[])
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE endpoints AS e
SET secret_headers = fresh.sealed
FROM free, unnest($1::uuid[], $2::jsonb[], $3::jsonb[]) AS fresh (id, read, sealed)
WHERE e.id = free.id AND e.id = fresh.id AND e.secret_headers = fresh.read
RETURNING e.id

-- name: outdated_signing_keys
-- A batch of signing keys, by id, that another master key than this one sealed.
SELECT id, tenant_id, secret AS sealed
FROM signing_keys
WHERE id > $2 AND split_part(secret, ':', 2) <> $1
ORDER BY id
LIMIT $3

-- name: replace_signing_keys
-- Write what was sealed anew, where it is still what was read.
WITH free AS (
    SELECT k.id
    FROM signing_keys AS k
    WHERE k.id = ANY ($1::uuid[])
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE signing_keys AS k
SET secret = fresh.sealed
FROM free, unnest($1::uuid[], $2::text[], $3::text[]) AS fresh (id, read, sealed)
WHERE k.id = free.id AND k.id = fresh.id AND k.secret = fresh.read
RETURNING k.id

-- name: outdated_virtual_keys
-- A batch of accounts' keys for providers, by id, that another master key than this one sealed.
SELECT id, tenant_id, sealed
FROM virtual_keys
WHERE id > $2 AND split_part(sealed, ':', 2) <> $1
ORDER BY id
LIMIT $3

-- name: replace_virtual_keys
-- Write what was sealed anew, where it is still what was read.
WITH free AS (
    SELECT k.id
    FROM virtual_keys AS k
    WHERE k.id = ANY ($1::uuid[])
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE virtual_keys AS k
SET sealed = fresh.sealed
FROM free, unnest($1::uuid[], $2::text[], $3::text[]) AS fresh (id, read, sealed)
WHERE k.id = free.id AND k.id = fresh.id AND k.sealed = fresh.read
RETURNING k.id

-- name: outdated_channel_urls
-- A batch of channels, by id, whose URL another master key than this one sealed.
SELECT id, tenant_id, sealed
FROM notification_channels
WHERE id > $2 AND split_part(sealed, ':', 2) <> $1
ORDER BY id
LIMIT $3

-- name: replace_channel_urls
-- Write what was sealed anew, where it is still what was read.
WITH free AS (
    SELECT c.id
    FROM notification_channels AS c
    WHERE c.id = ANY ($1::uuid[])
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE notification_channels AS c
SET sealed = fresh.sealed
FROM free, unnest($1::uuid[], $2::text[], $3::text[]) AS fresh (id, read, sealed)
WHERE c.id = free.id AND c.id = fresh.id AND c.sealed = fresh.read
RETURNING c.id
