-- One tenant.
SELECT id, name, created_at, retention_days, rules_mode, llm_mode FROM tenants WHERE id = $1
