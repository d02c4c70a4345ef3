-- What may be changed of a tenant.
UPDATE tenants SET name = $2, retention_days = $3, rules_mode = $4, llm_mode = $5
WHERE id = $1 RETURNING id
