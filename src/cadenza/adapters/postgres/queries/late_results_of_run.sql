-- Results of a run that came with an old epoch.
SELECT run_id, endpoint_id, epoch, status, received_at
FROM late_results
WHERE tenant_id = $1 AND endpoint_id = $2 AND run_id = $3
ORDER BY id
LIMIT 100
