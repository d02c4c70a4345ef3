-- Who did what, in the transaction that did it; and, where it has a kind, what is told of it.
WITH noted AS (
    INSERT INTO audit_log (tenant_id, actor, action, subject, data) VALUES ($1, $2, $3, $4, $5)
),
told AS (
    INSERT INTO events (tenant_id, kind, endpoint_id, job_id, data)
    SELECT $1, $3, $7::uuid,
           coalesce($8::uuid, (SELECT job_id FROM endpoints WHERE id = $7 AND tenant_id = $1)),
           $5::jsonb || jsonb_build_object('by', $9::text)
    WHERE $6
    RETURNING id
)
SELECT pg_notify('cadenza_events', '') FROM told
