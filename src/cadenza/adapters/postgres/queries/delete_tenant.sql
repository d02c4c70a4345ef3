-- A tenant and what hangs on it; runs and the like, which hang on nothing, go with it.
WITH gone AS (DELETE FROM tenants WHERE id = $1 RETURNING id),
     gone_runs AS (DELETE FROM runs USING gone WHERE tenant_id = gone.id),
     gone_failures AS (DELETE FROM failed_runs USING gone WHERE tenant_id = gone.id),
     gone_counts AS (DELETE FROM run_counts USING gone WHERE tenant_id = gone.id),
     gone_attempts AS (DELETE FROM run_attempts USING gone WHERE tenant_id = gone.id),
     gone_results AS (DELETE FROM late_results USING gone WHERE tenant_id = gone.id),
     gone_creates AS (DELETE FROM idempotency_keys USING gone WHERE tenant_id = gone.id)
SELECT id FROM gone
