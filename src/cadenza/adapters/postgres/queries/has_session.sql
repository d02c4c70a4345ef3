-- Whether a tenant has this session.
SELECT id FROM analysis_sessions WHERE tenant_id = $1 AND id = $2
