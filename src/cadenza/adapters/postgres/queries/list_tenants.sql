-- All tenants, in the order of their ids.
SELECT id, name, created_at, retention_days, rules_mode, llm_mode
FROM tenants
WHERE id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000')
ORDER BY id
LIMIT $2
