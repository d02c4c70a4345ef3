-- The endpoints whose results still count, fresh and locked, in one order everywhere.
SELECT
    cadenza_now() AS now,
    {endpoint_columns},
    CASE WHEN e.running_is_manual THEN e.plan END AS plan,
    e.running_run_id
FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) AS claim (endpoint_id, epoch, run_id)
JOIN endpoints AS e
    ON e.id = claim.endpoint_id
   AND e.lease_epoch = claim.epoch
   AND e.running_run_id = claim.run_id
ORDER BY e.id
FOR UPDATE OF e
