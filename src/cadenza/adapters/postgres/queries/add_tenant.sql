-- A new tenant.
INSERT INTO tenants (id, name, created_at, retention_days, rules_mode, llm_mode)
VALUES ($1, $2, $3, $4, $5, $6)
