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
