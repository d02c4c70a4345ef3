-- Keep results that came with an old epoch; the same result told twice is not one of them.
INSERT INTO late_results (run_id, endpoint_id, tenant_id, epoch, status, received_at)
SELECT late.run_id, late.endpoint_id, late.tenant_id, late.epoch, late.status, cadenza_now()
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $6::timestamptz[])
    AS late (run_id, endpoint_id, tenant_id, epoch, status, slot_at)
WHERE NOT EXISTS (
    SELECT FROM runs
    WHERE runs.endpoint_id = late.endpoint_id AND runs.slot_at = late.slot_at
      AND runs.epoch = late.epoch AND runs.status <> 'running'
)
RETURNING run_id
