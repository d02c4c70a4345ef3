-- A new job; the same one again only takes on its name and description.
INSERT INTO jobs (id, tenant_id, name, description, paused_until, archived_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description
WHERE jobs.tenant_id = excluded.tenant_id
