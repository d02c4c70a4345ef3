-- A new job.
INSERT INTO jobs (
    id, tenant_id, name, description, rules, planner_mode, probe_budget, created_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7, cadenza_now())
