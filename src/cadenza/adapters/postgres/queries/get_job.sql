-- One job of a tenant.
{stored_job}
WHERE j.tenant_id = $1 AND j.id = $2
