-- A clock that stepped back: what lies in its future goes on by it (docs/decisions/0009).

-- name: lock_ahead_of_clock
-- Endpoints that count from an instant in the future; others may be at it too, and share them.
SELECT cadenza_now() AS now, e.*
FROM endpoint_states AS e
WHERE e.archived_at IS NULL AND e.running_slot_at IS NULL
  AND greatest(
      e.last_run_at, e.manual_slot_at, CASE WHEN e.baseline_cron IS NULL THEN e.last_slot_at END
  ) > (SELECT cadenza_now()) + $2::interval
ORDER BY e.id
LIMIT $1
FOR UPDATE OF e SKIP LOCKED

-- name: count_ahead_of_clock
-- The same, with those in flight: they end with a slot in the future.
SELECT count(*)
FROM endpoints AS e
WHERE e.archived_at IS NULL
  AND greatest(
      e.last_run_at, e.manual_slot_at, e.running_slot_at,
      CASE WHEN e.baseline_cron IS NULL THEN e.last_slot_at END
  ) > (SELECT cadenza_now()) + $1::interval

-- name: shorten_leases
-- Claims from before the step: their leases end by the stepped clock, and a run that loses its
-- worker is looked for at once, not when its slot comes a second time.
WITH clock AS MATERIALIZED (SELECT cadenza_now() AS now),
held AS MATERIALIZED (
    SELECT e.id
    FROM endpoints AS e
    WHERE e.running_slot_at > (SELECT now FROM clock) + $2::interval
    ORDER BY e.id
    FOR UPDATE OF e SKIP LOCKED
)
UPDATE endpoints AS e
SET lease_until = least(e.lease_until, clock.now + $1::interval),
    next_run_at = CASE WHEN e.running_is_manual THEN e.next_run_at
                       ELSE least(e.next_run_at, clock.now) END
FROM held, clock
WHERE e.id = held.id
  AND (e.lease_until > clock.now + $1::interval
       OR NOT e.running_is_manual AND e.next_run_at > clock.now)

-- name: move_taken_slots
-- Slots that are due and have a run already: a microsecond later, so that one of them does not stop
-- everybody's claims.
WITH taken AS MATERIALIZED (
    SELECT e.id, true AS is_planned
    FROM endpoints AS e JOIN runs AS r ON r.endpoint_id = e.id AND r.slot_at = e.next_run_at
    WHERE e.next_run_at BETWEEN '-infinity' AND (SELECT cadenza_now()) + $1::interval
      AND e.running_run_id IS NULL
    UNION ALL
    SELECT e.id, false
    FROM endpoints AS e JOIN runs AS r ON r.endpoint_id = e.id AND r.slot_at = e.manual_slot_at
    WHERE e.running_run_id IS NULL
),
moved AS MATERIALIZED (
    SELECT e.id,
           CASE WHEN (e.id, true) IN (SELECT * FROM taken)
                THEN e.next_run_at + interval '1 microsecond' ELSE e.next_run_at END AS next_run_at,
           CASE WHEN (e.id, false) IN (SELECT * FROM taken)
                THEN e.manual_slot_at + interval '1 microsecond' END AS manual_slot_at
    FROM endpoints AS e
    WHERE e.id IN (SELECT id FROM taken) AND e.running_run_id IS NULL
    ORDER BY e.id  -- in one order everywhere
    FOR UPDATE OF e
)
UPDATE endpoints AS e
SET next_run_at = moved.next_run_at,
    manual_slot_at = coalesce(moved.manual_slot_at, e.manual_slot_at),
    plan = coalesce(
        jsonb_set(e.plan::jsonb, ARRAY['next_run_at'], to_jsonb(moved.next_run_at))::json, e.plan
    )
FROM moved
WHERE e.id = moved.id
