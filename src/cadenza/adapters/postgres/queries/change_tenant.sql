-- What may be changed of a tenant.
UPDATE tenants SET name = $2, retention_days = $3 WHERE id = $1 RETURNING id
