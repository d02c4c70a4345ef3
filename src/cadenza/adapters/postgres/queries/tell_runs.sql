-- What ended runs have to tell, in the transaction that closed them.
WITH told AS (
    INSERT INTO events (at, kind, tenant_id, job_id, endpoint_id, data)
    SELECT $1, kind, tenant_id, job_id, endpoint_id, data
    FROM unnest($2::text[], $3::uuid[], $4::uuid[], $5::uuid[], $6::jsonb[])
        AS event (kind, tenant_id, job_id, endpoint_id, data)
    RETURNING id
)
SELECT pg_notify('cadenza_events', '') FROM (SELECT FROM told LIMIT 1) AS anything
