-- Who is signed in to the dashboard, and links that sign somebody in once.

-- name: insert_sign_in
-- A browser that is signed in from now on.
INSERT INTO sign_ins (hash, tenant_id, user_id, key_id, created_at, expires_at, last_seen_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: find_sign_in
-- The one that a cookie is of, and the time to judge it by.
SELECT cadenza_now() AS now, s.* FROM sign_ins AS s WHERE s.hash = $1

-- name: touch_sign_in
-- Note that it was seen, to the minute: not a write with every page.
UPDATE sign_ins
SET last_seen_at = cadenza_now()
WHERE hash = $1 AND last_seen_at < cadenza_now() - interval '1 minute'

-- name: delete_sign_in
-- Signed out here.
DELETE FROM sign_ins WHERE hash = $1

-- name: delete_sign_ins_of_user
-- Signed out everywhere; links that wait go, too.
WITH links AS (DELETE FROM sign_in_links WHERE tenant_id = $1 AND user_id = $2)
DELETE FROM sign_ins WHERE tenant_id = $1 AND user_id = $2

-- name: delete_ended_sign_ins
-- Those that have ended by themselves.
WITH links AS (DELETE FROM sign_in_links WHERE expires_at <= $1)
DELETE FROM sign_ins WHERE expires_at <= $1

-- name: insert_sign_in_link
-- A link that waits to be followed.
INSERT INTO sign_in_links (hash, tenant_id, user_id, key_id, expires_at) VALUES ($1, $2, $3, $4, $5)

-- name: take_sign_in_link
-- It works once: of two who follow it, one gets the row.
DELETE FROM sign_in_links WHERE hash = $1 RETURNING cadenza_now() AS now, *
