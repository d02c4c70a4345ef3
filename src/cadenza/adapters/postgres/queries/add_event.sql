-- Something that happened, told to whoever follows.
WITH told AS (
    INSERT INTO events (tenant_id, kind, job_id, endpoint_id, data)
    VALUES ($1, $2, $3, $4, $5)
    RETURNING id
)
SELECT pg_notify('cadenza_events', '') FROM told
