-- The jobs of a tenant that are not archived, by name.
SELECT id, name, description, paused_until
FROM jobs
WHERE tenant_id = $1 AND archived_at IS NULL
ORDER BY name
