-- The jobs of a tenant that are not archived, by name.
SELECT id, tenant_id, name, description, rules, planner_mode, probe_budget, paused_until, archived_at
FROM jobs
WHERE tenant_id = $1 AND archived_at IS NULL
ORDER BY name
