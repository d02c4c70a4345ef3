-- Who did what, in the transaction that did it.
INSERT INTO audit_log (tenant_id, actor, action, subject, data) VALUES ($1, $2, $3, $4, $5)
