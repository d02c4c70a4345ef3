-- The sweep: lease every run in flight whose worker is gone, also those that no slot brings back.
WITH {claim_clock},
picked AS MATERIALIZED (
    SELECT lost.id, lost.slot_at, row_number() OVER () AS number
    FROM (
        SELECT e.id, e.running_slot_at AS slot_at
        FROM endpoints AS e
        WHERE (e.running_is_manual OR e.next_run_at <= (SELECT now + $3 FROM clock))
          AND e.running_run_id IS NOT NULL
          AND (e.lease_until IS NULL OR e.lease_until <= (SELECT now FROM clock))
        LIMIT $1
        FOR UPDATE OF e SKIP LOCKED
    ) AS lost
),
{lease_picked}
SELECT claimed.*
FROM claimed

