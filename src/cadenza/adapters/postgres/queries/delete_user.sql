-- A user, and with them their keys.
DELETE FROM users WHERE tenant_id = $1 AND id = $2 RETURNING name
