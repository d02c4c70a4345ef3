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
