-- The attempts of a run whose worker never answered.
SELECT run_id, attempt, noted_at
FROM run_attempts
WHERE tenant_id = $1 AND run_id = $2
ORDER BY noted_at
