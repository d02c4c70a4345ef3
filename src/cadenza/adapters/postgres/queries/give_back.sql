-- Undo claims of which nothing was sent. A run that an earlier worker did send stays in flight.
WITH held AS MATERIALIZED (
    SELECT e.id, e.running_attempt, e.running_slot_at, e.running_is_manual
    {held_claims}
),
freed AS (
    UPDATE endpoints AS e
    SET lease_epoch = e.lease_epoch + 1,  -- told twice, it is done once
        lease_until = NULL,
        leased_by = NULL,
        running_attempt = CASE WHEN held.running_attempt > 1 THEN held.running_attempt - 1 END,
        running_run_id = CASE WHEN held.running_attempt > 1 THEN e.running_run_id END,
        running_slot_at = CASE WHEN held.running_attempt > 1 THEN e.running_slot_at END,
        running_claimed_at = CASE WHEN held.running_attempt > 1 THEN e.running_claimed_at END,
        running_is_manual = held.running_attempt > 1 AND held.running_is_manual,
        manual_slot_at = CASE WHEN held.running_attempt = 1 AND held.running_is_manual
                              THEN held.running_slot_at END
    FROM held
    WHERE e.id = held.id
),
back_one AS (
    UPDATE runs SET attempt = held.running_attempt - 1
    FROM held
    WHERE held.running_attempt > 1
      AND runs.endpoint_id = held.id AND runs.slot_at = held.running_slot_at
),
forgotten AS (
    DELETE FROM runs USING held
    WHERE held.running_attempt = 1
      AND runs.endpoint_id = held.id AND runs.slot_at = held.running_slot_at
)
SELECT pg_notify('cadenza_due', '')
WHERE EXISTS (SELECT FROM held)
