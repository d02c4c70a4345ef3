-- Results that are reported to us by whoever did the work.

-- name: insert_awaited
-- The token of an attempt; in the place of the one before, where the attempt was given back.
INSERT INTO awaited_results (run_id, attempt, tenant_id, endpoint_id, token_hash)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (run_id, attempt) DO UPDATE SET token_hash = excluded.token_hash

-- name: lock_awaited
-- What is known of a run's attempts, and whether the run is under way.
SELECT a.*, EXISTS (
    SELECT FROM endpoints AS e WHERE e.id = a.endpoint_id AND e.running_run_id = a.run_id
) AS is_running
FROM awaited_results AS a
WHERE a.run_id = $1
ORDER BY a.attempt
FOR UPDATE OF a

-- name: save_report
-- What was reported with the token of an attempt.
UPDATE awaited_results
SET reported_at = cadenza_now(), status = $3, message = $4, body = $5::json
WHERE run_id = $1 AND attempt = $2

-- name: close_awaited
-- No report is accepted any more.
UPDATE awaited_results SET closed_at = cadenza_now() WHERE run_id = $1 AND closed_at IS NULL

-- name: reports_of
-- What was reported of runs, the first of each.
SELECT DISTINCT ON (run_id) run_id, status, message, body
FROM awaited_results
WHERE run_id = ANY ($1::uuid[]) AND reported_at IS NOT NULL
ORDER BY run_id, attempt
