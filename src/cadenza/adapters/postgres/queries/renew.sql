-- Extend the leases that are still ours.
WITH held AS MATERIALIZED (
    SELECT e.id
    {held_claims}
)
UPDATE endpoints AS e
SET lease_until = cadenza_now() + $4
FROM held
WHERE e.id = held.id
  AND e.lease_until > cadenza_now()  -- it may have ended while this waited for a lock
RETURNING e.running_run_id
