-- Claims and their leases: what a scheduler takes, keeps and gives back.

-- name: walk_indexes
-- For the transaction of a claim: what is due is read in the order of its index, as far as there is
-- room. A plan expects few rows and might as well sort them; with a backlog each claim would then
-- read all of it.
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off

-- name: claim_due
-- Lease what is to run now and record its runs, in one statement: what is due by its schedule and
-- what people asked for and lost its worker; or, for the sweep, whatever else lost its worker.
--   $1 how many  $2 how long a lease lasts  $3 how far ahead  $4 the worker  $5 ids for new runs
--   $6, $7 tenants with runs in flight, and how many  $8, $9 hosts likewise
--   $10 tenants that have no room left, $11 hosts that have none for somebody
--   $12 the most for each tenant, and for each of its hosts
--   $13 whether more was due than the claim before had room for
--   $14 the last tenant that claim came to  $15 how many tenants to come to  $16 whether it sweeps
--   $17 on which workers it runs  $18 whose the hosts of $8 are: a host's limit is each tenant's own
WITH RECURSIVE clock AS MATERIALIZED (
    -- Asked once. What is due lies between two ends, of which a plan expects few rows, and so takes
    -- the index. Which sources are on is read from here too: one plan serves all claims, and a
    -- source that is off is not even begun.
    SELECT asked.now, asked.now + $3 AS horizon, '-infinity'::timestamptz AS beginning,
           NOT $16::boolean AS is_claim, $13::boolean AND NOT $16 AS has_backlog, $16 AS is_sweep
    FROM (SELECT cadenza_now() AS now) AS asked
),
busy_hosts AS MATERIALIZED (
    SELECT * FROM unnest($18::uuid[], $8::text[], $9::integer[]) AS busy (tenant_id, host, count)
),
full_hosts AS MATERIALIZED (
    SELECT tenant_id, host FROM busy_hosts WHERE count >= ($12::integer[])[2]
),
-- The earliest due: fair as long as nothing is left over.
earliest AS MATERIALIZED (
    SELECT e.id, e.tenant_id, e.host, coalesce(e.running_slot_at, e.next_run_at) AS slot_at
    FROM endpoints AS e
    WHERE (SELECT is_claim FROM clock) AND e.runs_on = $17
      AND e.next_run_at BETWEEN (SELECT beginning FROM clock) AND (SELECT horizon FROM clock)
      AND claimable_from(e) <= (SELECT now FROM clock)
      AND e.tenant_id <> ALL ($10::uuid[])
      AND (e.host <> ALL ($11::text[]) OR (e.tenant_id, e.host) NOT IN (SELECT * FROM full_hosts))
    ORDER BY e.next_run_at
    LIMIT $1
    FOR UPDATE OF e SKIP LOCKED
),
-- With a backlog also a share for each tenant, so that nobody waits behind another's: tenants are
-- walked by index from where the last claim stopped, and only so many at a time.
tenant_walk (id, due_at, step) AS (
    (
        SELECT e.tenant_id, e.next_run_at, 1
        FROM endpoints AS e
        WHERE (SELECT has_backlog FROM clock) AND e.next_run_at IS NOT NULL AND e.tenant_id > $14
        ORDER BY e.tenant_id, e.next_run_at
        LIMIT 1
    )
    UNION ALL
    SELECT following.tenant_id, following.next_run_at, tenant_walk.step + 1
    FROM tenant_walk
    CROSS JOIN LATERAL (
        SELECT e.tenant_id, e.next_run_at
        FROM endpoints AS e
        WHERE e.next_run_at IS NOT NULL AND e.tenant_id > tenant_walk.id
        ORDER BY e.tenant_id, e.next_run_at
        LIMIT 1
    ) AS following
    WHERE tenant_walk.step < $15
),
due_tenants AS MATERIALIZED (
    SELECT id FROM tenant_walk
    WHERE due_at <= (SELECT horizon FROM clock) AND id <> ALL ($10::uuid[])
),
shares AS MATERIALIZED (
    SELECT share.*
    FROM due_tenants
    CROSS JOIN LATERAL (
        SELECT e.id, e.tenant_id, e.host, coalesce(e.running_slot_at, e.next_run_at) AS slot_at
        FROM endpoints AS e
        WHERE e.tenant_id = due_tenants.id
          AND e.next_run_at BETWEEN (SELECT beginning FROM clock) AND (SELECT horizon FROM clock)
          AND claimable_from(e) <= (SELECT now FROM clock)
          AND e.runs_on || '' = $17  -- not by the index of these workers, which holds everybody's
          AND (e.host <> ALL ($11::text[])
               OR (e.tenant_id, e.host) NOT IN (SELECT * FROM full_hosts))
        ORDER BY e.next_run_at
        LIMIT (SELECT greatest(1, 2 * $1 / greatest(1, count(*))) FROM due_tenants)
        FOR UPDATE OF e SKIP LOCKED
    ) AS share
),
-- What people asked for now, also while it is paused.
asked_for AS MATERIALIZED (
    SELECT e.id, e.tenant_id, e.host, e.manual_slot_at AS slot_at
    FROM endpoints AS e
    WHERE (SELECT is_claim FROM clock) AND e.runs_on = $17
      AND e.manual_slot_at IS NOT NULL AND e.running_run_id IS NULL AND e.archived_at IS NULL
      AND e.tenant_id <> ALL ($10::uuid[])
      AND (e.host <> ALL ($11::text[]) OR (e.tenant_id, e.host) NOT IN (SELECT * FROM full_hosts))
    ORDER BY e.manual_slot_at
    LIMIT $1
    FOR UPDATE OF e SKIP LOCKED
),
-- A person's run that lost its worker: no slot brings it back, and until it is closed the endpoint
-- stands still.
lost_by_hand AS MATERIALIZED (
    SELECT e.id, e.running_slot_at AS slot_at
    FROM endpoints AS e
    WHERE e.running_is_manual AND e.running_run_id IS NOT NULL AND e.runs_on = $17
      AND (e.lease_until IS NULL OR e.lease_until <= (SELECT now FROM clock))
    LIMIT $1
    FOR UPDATE OF e SKIP LOCKED
),
-- For the sweep: whatever else is in flight and lost its worker.
lost AS MATERIALIZED (
    SELECT e.id, e.running_slot_at AS slot_at
    FROM endpoints AS e
    WHERE (SELECT is_sweep FROM clock) AND e.runs_on = $17
      AND e.next_run_at BETWEEN (SELECT beginning FROM clock) AND (SELECT horizon FROM clock)
      AND e.running_run_id IS NOT NULL AND NOT e.running_is_manual
      AND (e.lease_until IS NULL OR e.lease_until <= (SELECT now FROM clock))
    LIMIT $1
    FOR UPDATE OF e SKIP LOCKED
),
candidates AS (
    SELECT * FROM earliest
    UNION  -- the earliest are among the shares, too
    SELECT * FROM shares
    UNION
    SELECT * FROM asked_for
),
-- The first of each tenant before the second of any, and no tenant or host beyond its limit.
ranked AS (
    SELECT
        c.id, c.slot_at,
        row_number() OVER (PARTITION BY c.tenant_id ORDER BY c.slot_at, c.id)
            + coalesce(busy_tenant.count, 0) AS tenant_rank,
        row_number() OVER (PARTITION BY c.tenant_id, c.host ORDER BY c.slot_at, c.id)
            + coalesce(busy_host.count, 0) AS host_rank
    FROM candidates AS c
    LEFT JOIN unnest($6::uuid[], $7::integer[]) AS busy_tenant (id, count)
        ON busy_tenant.id = c.tenant_id
    LEFT JOIN busy_hosts AS busy_host
        ON busy_host.tenant_id = c.tenant_id AND busy_host.host = c.host
),
picked AS MATERIALIZED (
    SELECT chosen.id, chosen.slot_at, row_number() OVER () AS number
    FROM (
        SELECT ranked.id, ranked.slot_at
        FROM ranked
        WHERE ranked.tenant_rank <= ($12::integer[])[1] AND ranked.host_rank <= ($12::integer[])[2]
        ORDER BY ranked.tenant_rank, ranked.slot_at
        LIMIT $1
    ) AS chosen
    UNION ALL
    SELECT lost.id, lost.slot_at, NULL FROM lost  -- its run has an id
    UNION ALL
    SELECT lost_by_hand.id, lost_by_hand.slot_at, NULL FROM lost_by_hand
),
leased AS (
    UPDATE endpoints AS e
    SET lease_epoch = e.lease_epoch + 1,
        lease_until = clock.now + $2,
        leased_by = $4,
        running_run_id = coalesce(e.running_run_id, ($5::uuid[])[picked.number]),
        running_slot_at = picked.slot_at,
        -- what was started is only to be closed: that is no other attempt
        running_attempt = coalesce(e.running_attempt, 0) + (e.running_started_at IS NULL)::integer,
        running_claimed_at = coalesce(e.running_claimed_at, clock.now),
        running_is_manual = e.running_is_manual OR e.manual_slot_at IS NOT NULL,
        manual_slot_at = NULL
    FROM picked, clock
    WHERE e.id = picked.id
    RETURNING
        e.running_run_id AS run_id, e.id AS endpoint_id, e.tenant_id, e.job_id,
        e.name AS endpoint_name, e.target, e.secret_headers, e.host,
        e.running_slot_at AS slot_at, e.next_source,
        e.lease_epoch AS epoch, e.running_claimed_at AS first_claimed_at,
        e.running_attempt AS attempt, e.running_is_manual AS is_manual,
        e.running_started_at AS started_at,
        greatest(e.person_paused_until, e.planner_paused_until, e.job_paused_until)
            > clock.now AS is_paused,
        e.archived_at IS NOT NULL AS is_archived,
        CASE WHEN e.running_is_manual THEN NULL ELSE e.plan END AS plan
),
recorded AS (
    INSERT INTO runs (
        id, endpoint_id, tenant_id, slot_at, source, status, attempt, epoch, is_manual,
        claimed_at, plan
    )
    SELECT run_id, endpoint_id, tenant_id, slot_at,
           CASE WHEN is_manual THEN 'manual' ELSE next_source END,
           'running', 1, epoch, is_manual, first_claimed_at, plan
    FROM leased
    WHERE attempt = 1 AND started_at IS NULL
),
-- A run that another worker lost goes on as its next attempt, and the lost one is noted.
taken_over AS (
    UPDATE runs
    SET attempt = leased.attempt, epoch = leased.epoch
    FROM leased
    WHERE (leased.attempt > 1 OR leased.started_at IS NOT NULL)
      AND runs.endpoint_id = leased.endpoint_id AND runs.slot_at = leased.slot_at
),
noted AS (
    INSERT INTO run_attempts (run_id, attempt, tenant_id, endpoint_id, slot_at, noted_at)
    SELECT run_id, attempt - (started_at IS NULL)::integer, tenant_id, endpoint_id, slot_at,
           clock.now
    FROM leased, clock
    WHERE attempt > 1 OR started_at IS NOT NULL
    ON CONFLICT DO NOTHING  -- a takeover that was given back has noted it before
),
meta AS MATERIALIZED (
    SELECT
        clock.now,
        (SELECT count(*) FROM candidates) AS found_count,
        (SELECT min(later.next_run_at) FROM endpoints AS later
          WHERE later.runs_on = $17 AND later.next_run_at > clock.horizon) AS next_due_at,
        -- where the next claim goes on; NULL where the walk came to the end
        (SELECT max(id::text)::uuid FROM tenant_walk HAVING count(*) >= $15) AS last_tenant_id
    FROM clock
)
SELECT
    meta.*, run_id, endpoint_id, tenant_id, job_id, endpoint_name, target, secret_headers, host,
    slot_at, next_source, epoch, first_claimed_at, attempt, is_manual, started_at, is_paused,
    is_archived
FROM meta LEFT JOIN leased ON true

-- name: renew
-- Extend the leases that are still ours; where somebody else has the row locked, say only that.
WITH claim AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) AS claim (endpoint_id, epoch, run_id)
),
held AS MATERIALIZED (
    SELECT e.id
    FROM claim
    JOIN endpoints AS e
        ON e.id = claim.endpoint_id
       AND e.lease_epoch = claim.epoch
       AND e.running_run_id = claim.run_id
    WHERE e.lease_until > cadenza_now()
    ORDER BY e.id  -- in one order everywhere, so that no two transactions wait in a circle
    FOR UPDATE OF e SKIP LOCKED
),
renewed AS (
    UPDATE endpoints AS e
    SET lease_until = cadenza_now() + $4
    FROM held
    WHERE e.id = held.id
    RETURNING e.running_run_id AS run_id
)
SELECT run_id, true AS is_renewed FROM renewed
UNION ALL
SELECT claim.run_id, false
FROM claim
JOIN endpoints AS e
    ON e.id = claim.endpoint_id
   AND e.lease_epoch = claim.epoch
   AND e.running_run_id = claim.run_id
WHERE e.lease_until > cadenza_now() AND claim.endpoint_id NOT IN (SELECT id FROM held)

-- name: undo_claims
-- Undo claims of which nothing was sent. A run that an earlier worker did send stays in flight.
WITH held AS MATERIALIZED (
    SELECT e.id, e.running_attempt, e.running_slot_at, e.running_is_manual
    FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) AS claim (endpoint_id, epoch, run_id)
    JOIN endpoints AS e
        ON e.id = claim.endpoint_id
       AND e.lease_epoch = claim.epoch
       AND e.running_run_id = claim.run_id
    ORDER BY e.id  -- in one order everywhere
    FOR UPDATE OF e
),
freed AS (
    UPDATE endpoints AS e
    SET lease_epoch = e.lease_epoch + 1,  -- so that a second call finds nothing to undo
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
)
DELETE FROM runs USING held
WHERE held.running_attempt = 1
  AND runs.endpoint_id = held.id AND runs.slot_at = held.running_slot_at

-- name: lock_starting_runs
-- Runs of graphs that are about to start and are still ours, with what the account has; one whose
-- endpoint somebody else has locked holds up no other.
SELECT e.running_run_id AS run_id, coalesce(a.balance, 0) AS balance
FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::uuid[])
    AS claim (endpoint_id, epoch, run_id, grant_id)
JOIN endpoints AS e
    ON e.id = claim.endpoint_id
   AND e.lease_epoch = claim.epoch
   AND e.running_run_id = claim.run_id
LEFT JOIN execution_grants AS g ON g.id = claim.grant_id
LEFT JOIN accounts AS a ON a.id = g.account_id
WHERE e.lease_until > cadenza_now()
ORDER BY e.id  -- in one order everywhere
FOR UPDATE OF e SKIP LOCKED

-- name: note_runs_started
-- From here on the run is never started again.
UPDATE endpoints SET running_started_at = cadenza_now() WHERE id = ANY ($1::uuid[])
