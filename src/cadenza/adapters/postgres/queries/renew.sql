-- Extend the leases that are still ours. Locked in the same order as a finish, so that the two
-- never wait for each other in a circle.
WITH held AS MATERIALIZED (
    SELECT e.id
    FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) AS claim (endpoint_id, epoch, run_id)
    JOIN endpoints AS e
        ON e.id = claim.endpoint_id
       AND e.lease_epoch = claim.epoch
       AND e.running_run_id = claim.run_id
    ORDER BY e.id
    FOR UPDATE OF e
)
UPDATE endpoints AS e
SET lease_until = cadenza_now() + $4
FROM held
WHERE e.id = held.id
RETURNING e.running_run_id
