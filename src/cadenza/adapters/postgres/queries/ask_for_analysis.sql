-- A person wants a look at an endpoint.
UPDATE endpoints SET asked_at = cadenza_now() WHERE tenant_id = $1 AND id = $2 RETURNING archived_at
