-- The queue of schedules' slots: enqueued, leased, started, closed. A schedule is locked before its
-- runs, everywhere.

-- name: add_jobs
-- Enqueue slots. One whose key was there before is there for ever, and one slot of a schedule waits.
INSERT INTO schedule_runs (
    schedule_id, slot_at, tenant_id, user_id, is_manual, concurrency, requires, answer_to
)
SELECT s.id, job.slot_at, s.tenant_id, s.user_id, job.is_manual, s.concurrency, s.requires,
       job.answer_to
FROM unnest($1::uuid[], $2::timestamptz[], $3::boolean[], $4::uuid[])
    AS job (schedule_id, slot_at, is_manual, answer_to)
JOIN schedules AS s ON s.id = job.schedule_id
ON CONFLICT DO NOTHING

-- name: remove_waiting_slot
-- The slot that waits, where the schedule has changed or ended.
DELETE FROM schedule_runs WHERE schedule_id = $1 AND status = 'scheduled' AND NOT is_manual

-- name: remove_waiting_slots
-- All that waits, where the schedule has ended.
DELETE FROM schedule_runs WHERE schedule_id = $1 AND status = 'scheduled'

-- name: running_runs
-- Under way, or asked for by a person and about to be.
SELECT * FROM stored_slots
WHERE schedule_id = $1 AND (status = 'running' OR status = 'scheduled' AND is_manual)
ORDER BY slot_at

-- name: lock_schedule_of_run
-- Before its run, as everywhere.
SELECT s.id FROM schedules AS s
JOIN schedule_runs AS r ON r.schedule_id = s.id
WHERE r.tenant_id = $1 AND r.id = $2
FOR NO KEY UPDATE OF s

-- name: lock_run
-- One run of a tenant, against its end.
SELECT * FROM stored_slots WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE

-- name: cancel_runs
-- Runs under way end now. With a new epoch their workers can store nothing more.
WITH cancelled AS (
    UPDATE schedule_runs
    SET status = 'cancelled', reason = $2, finished_at = cadenza_now(), lease_until = NULL,
        epoch = epoch + 1, error_code = 'aborted'
    WHERE id = ANY ($1::uuid[]) AND status = 'running'
    RETURNING schedule_id
)
UPDATE schedules SET last_ended_at = cadenza_now()
WHERE id IN (SELECT schedule_id FROM cancelled)

-- name: note_answer
-- A person's answer to what a run asked, once.
UPDATE schedule_runs SET answer = $2, answered_at = cadenza_now() WHERE id = $1

-- name: answers_of
-- The kept state and the answer of runs that waited.
SELECT id, state, answer FROM schedule_runs WHERE id = ANY ($1::uuid[])

-- name: lock_due_slots
-- Slots whose time has come, each tenant's first before anybody's second; and when the next comes.
--   $1 how many  $2 how far ahead  $3 the worker's labels
--   $4, $5 tenants with runs in execution, and how many  $6 the most for each tenant
--   $7 how many of the earliest take turns
WITH clock AS MATERIALIZED (
    SELECT asked.now, asked.now + $2 AS horizon, '-infinity'::timestamptz AS beginning
    FROM (SELECT cadenza_now() AS now) AS asked
),
busy AS MATERIALIZED (
    SELECT * FROM unnest($4::uuid[], $5::integer[]) AS busy (tenant_id, runs)
),
waiting AS MATERIALIZED (
    SELECT r.schedule_id, r.slot_at, r.tenant_id
    FROM schedule_runs AS r
    WHERE r.status = 'scheduled'
      AND r.slot_at BETWEEN (SELECT beginning FROM clock) AND (SELECT horizon FROM clock)
      AND r.requires <@ $3::text[]
      AND r.tenant_id NOT IN (SELECT tenant_id FROM busy WHERE runs >= $6)
      AND (
          r.concurrency <> 'forbid'
          OR NOT EXISTS (
              SELECT FROM schedule_runs AS other
              WHERE other.schedule_id = r.schedule_id AND other.status = 'running'
          )
      )
    ORDER BY r.slot_at, r.schedule_id
    LIMIT $7
),
ranked AS MATERIALIZED (
    SELECT waiting.*, coalesce(busy.runs, 0) + row_number() OVER (
               PARTITION BY waiting.tenant_id ORDER BY waiting.slot_at, waiting.schedule_id
           ) AS turn
    FROM waiting LEFT JOIN busy ON busy.tenant_id = waiting.tenant_id
    ORDER BY turn, slot_at, schedule_id
    LIMIT greatest(200, 4 * $1)  -- more than are wanted: other workers may have some of them
),
due AS MATERIALIZED (
    SELECT r.schedule_id, r.slot_at, r.is_manual
    FROM ranked
    JOIN schedule_runs AS r ON r.schedule_id = ranked.schedule_id AND r.slot_at = ranked.slot_at
    JOIN schedules AS s ON s.id = r.schedule_id
    WHERE r.status = 'scheduled'  -- asked again: another worker may just have taken it
    ORDER BY ranked.turn, r.slot_at, r.schedule_id
    LIMIT $1
    FOR NO KEY UPDATE OF r, s SKIP LOCKED  -- of two workers one has the schedule
)
SELECT clock.now, due.*,
       (SELECT min(later.slot_at) FROM schedule_runs AS later
        WHERE later.status = 'scheduled' AND later.slot_at > clock.horizon) AS next_due_at
FROM clock LEFT JOIN due ON true

-- name: lock_broken_chains
-- Enabled schedules with no slot that waits, or with one that nobody has started in time.
--   $1 the grace
WITH clock AS MATERIALIZED (SELECT cadenza_now() AS now)
SELECT clock.now, s.id AS schedule_id, waiting.slot_at
FROM clock
CROSS JOIN schedules AS s
LEFT JOIN schedule_runs AS waiting
    ON waiting.schedule_id = s.id AND waiting.status = 'scheduled' AND NOT waiting.is_manual
WHERE s.enabled AND s.deleted_at IS NULL
  AND (
      waiting.slot_at IS NULL
      OR waiting.slot_at < clock.now - $1::interval
      AND NOT EXISTS (
          SELECT FROM schedule_runs AS other
          WHERE other.schedule_id = s.id AND other.status = 'running'
      )
  )
LIMIT 1000
FOR NO KEY UPDATE OF s SKIP LOCKED

-- name: take_lost_slots
-- Lease runs that have no live lease. One that was started is only to be closed.
--   $1 how many  $2 how long a lease lasts  $3 the worker
WITH clock AS MATERIALIZED (SELECT cadenza_now() AS now),
lost AS MATERIALIZED (
    SELECT r.schedule_id, r.slot_at
    FROM schedule_runs AS r
    WHERE r.status = 'running' AND r.lease_until <= (SELECT now FROM clock)
    ORDER BY r.lease_until
    LIMIT $1
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE schedule_runs AS r
SET epoch = r.epoch + 1, lease_until = clock.now + $2, leased_by = $3,
    attempt = r.attempt + (r.started_at IS NULL)::integer
FROM lost, clock
WHERE r.schedule_id = lost.schedule_id AND r.slot_at = lost.slot_at
RETURNING r.schedule_id, r.slot_at, r.id, r.epoch, r.attempt, r.is_manual, r.answer_to,
          r.started_at IS NOT NULL AS is_started

-- name: skip_slots
-- Close slots that are not run, with their number and the reason.
UPDATE schedule_runs AS r
SET status = 'skipped', id = skipped.id, reason = skipped.reason, finished_at = cadenza_now(),
    skipped_slots = skipped.count
FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::integer[])
    AS skipped (schedule_id, slot_at, id, reason, count)
WHERE r.schedule_id = skipped.schedule_id AND r.slot_at = skipped.slot_at
  AND r.status = 'scheduled'

-- name: cancel_replaced
-- What is under way ends for what replaces it.
UPDATE schedule_runs
SET status = 'cancelled', reason = 'replaced', finished_at = cadenza_now(), lease_until = NULL,
    epoch = epoch + 1, error_code = 'aborted'
WHERE schedule_id = ANY ($1::uuid[]) AND status = 'running'
RETURNING id

-- name: start_slots
-- Lease slots that are due. A slot gets its run's id now.
--   $1 schedules  $2 slots  $3 ids  $4 how long a lease lasts  $5 the worker
WITH leased AS (
    UPDATE schedule_runs AS r
    SET status = 'running', id = coalesce(r.id, start.id), epoch = r.epoch + 1,
        attempt = r.attempt + 1, lease_until = cadenza_now() + $4, leased_by = $5
    FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) AS start (schedule_id, slot_at, id)
    WHERE r.schedule_id = start.schedule_id AND r.slot_at = start.slot_at
      AND r.status = 'scheduled'
    RETURNING r.schedule_id, r.slot_at, r.id, r.epoch, r.attempt, r.is_manual, r.answer_to,
              false AS is_started
),
noted AS (
    UPDATE schedules AS s
    SET last_run_at = greatest(s.last_run_at, latest.slot_at)
    FROM (SELECT schedule_id, max(slot_at) AS slot_at FROM leased GROUP BY 1) AS latest
    WHERE s.id = latest.schedule_id
)
SELECT * FROM leased

-- name: renew_slots
-- Extend the leases that are still ours; where somebody else has the row locked, say only that.
--   $1 run ids  $2 epochs  $3 how long a lease lasts
WITH held AS MATERIALIZED (
    SELECT r.id
    FROM unnest($1::uuid[], $2::bigint[]) AS claim (id, epoch)
    JOIN schedule_runs AS r ON r.id = claim.id AND r.epoch = claim.epoch
    WHERE r.status = 'running' AND r.lease_until > cadenza_now()
    ORDER BY r.id
    FOR NO KEY UPDATE OF r SKIP LOCKED
)
UPDATE schedule_runs AS r
SET lease_until = cadenza_now() + $3
FROM held
WHERE r.id = held.id
RETURNING r.id

-- name: slots_held
-- Of claims that were passed over: those that are still ours. Only their rows were locked.
--   $1 run ids  $2 epochs  $3 whether their leases have to last
SELECT r.id
FROM unnest($1::uuid[], $2::bigint[]) AS claim (id, epoch)
JOIN schedule_runs AS r ON r.id = claim.id AND r.epoch = claim.epoch
WHERE r.status = 'running' AND (NOT $3 OR r.lease_until > cadenza_now())

-- name: lock_starting
-- Runs that are about to start and are still ours, with what the account has; one that somebody
-- else has locked holds up no other.
SELECT r.id, s.grant_id, coalesce(a.balance, 0) AS balance
FROM unnest($1::uuid[], $2::bigint[]) AS claim (id, epoch)
JOIN schedule_runs AS r ON r.id = claim.id AND r.epoch = claim.epoch
JOIN schedules AS s ON s.id = r.schedule_id
LEFT JOIN execution_grants AS g ON g.id = s.grant_id
LEFT JOIN accounts AS a ON a.id = g.account_id
WHERE r.status = 'running' AND r.lease_until > cadenza_now()
ORDER BY r.id
FOR NO KEY UPDATE OF r SKIP LOCKED

-- name: note_started
-- From here on the run is never started again.
UPDATE schedule_runs SET started_at = cadenza_now() WHERE id = ANY ($1::uuid[])

-- name: lock_schedules_of_runs
-- Before their runs, as everywhere; what somebody else has locked holds up no other.
SELECT s.id FROM schedules AS s
WHERE s.id = ANY ($1::uuid[])
ORDER BY s.id
FOR NO KEY UPDATE SKIP LOCKED

-- name: lock_ending
-- Runs whose results still count.
--   $1 run ids  $2 epochs  $3 the schedules that are locked
SELECT r.id
FROM unnest($1::uuid[], $2::bigint[]) AS claim (id, epoch)
JOIN schedule_runs AS r ON r.id = claim.id AND r.epoch = claim.epoch
WHERE r.status = 'running' AND r.schedule_id = ANY ($3::uuid[])
ORDER BY r.id
FOR NO KEY UPDATE OF r SKIP LOCKED

-- name: close_slots
-- Results of runs whose epoch still counts.
--   $1 run ids  $2 epochs, and the columns
WITH closed AS (
    UPDATE schedule_runs AS r
    SET status = result.status, started_at = coalesce(r.started_at, result.started_at),
        finished_at = cadenza_now(), output = result.output, error_code = result.error_code,
        error_message = result.error_message, last_lines = result.last_lines,
        reason = result.reason, question = result.question, state = result.state,
        lease_until = NULL, skipped_slots = (result.status = 'skipped')::integer
    FROM unnest(
        $1::uuid[], $2::bigint[], $3::text[], $4::timestamptz[], $5::jsonb[], $6::text[],
        $7::text[], $8::text[], $9::text[], $10::jsonb[], $11::bytea[]
    ) AS result (
        id, epoch, status, started_at, output, error_code, error_message, last_lines, reason,
        question, state
    )
    WHERE r.id = result.id AND r.epoch = result.epoch AND r.status = 'running'
    RETURNING r.id, r.schedule_id
),
noted AS (
    UPDATE schedules AS s
    SET last_ended_at = cadenza_now()
    WHERE s.id IN (SELECT schedule_id FROM closed)
)
SELECT closed.id,
       (SELECT min(waiting.slot_at) FROM schedule_runs AS waiting
        WHERE waiting.schedule_id = closed.schedule_id AND waiting.status = 'scheduled')
           AS next_slot_at
FROM closed

-- name: add_run_events
-- What runs have said, in their order.
INSERT INTO schedule_run_events (run_id, tenant_id, number, at, kind, data)
SELECT * FROM unnest(
    $1::uuid[], $2::uuid[], $3::integer[], $4::timestamptz[], $5::text[], $6::jsonb[]
)
ON CONFLICT DO NOTHING

-- name: end_leases
-- Claims of which nothing was started: another worker may have them at once.
UPDATE schedule_runs AS r
SET lease_until = cadenza_now(), epoch = r.epoch + 1
FROM unnest($1::uuid[], $2::bigint[]) AS claim (id, epoch)
WHERE r.id = claim.id AND r.epoch = claim.epoch AND r.status = 'running' AND r.started_at IS NULL

-- name: list_schedule_runs
-- Slots of one schedule or of all, newest first, with what each has cost.
--   $1 the tenant  $2 the schedule  $3 before this slot  $4 how many
SELECT r.*, coalesce(spent.credits, 0) AS credits
FROM (
    SELECT * FROM stored_slots
    WHERE tenant_id = $1 AND ($2::uuid IS NULL OR schedule_id = $2)
      AND ($3::timestamptz IS NULL OR slot_at < $3)
    ORDER BY slot_at DESC
    LIMIT $4
) AS r
LEFT JOIN LATERAL (SELECT sum(credits)::bigint AS credits FROM charges WHERE run_id = r.id)
    AS spent ON true
ORDER BY r.slot_at DESC

-- name: get_schedule_run
-- One run, with what it has cost.
SELECT r.*, (SELECT coalesce(sum(credits), 0)::bigint FROM charges WHERE run_id = r.id) AS credits
FROM stored_slots AS r
WHERE r.tenant_id = $1 AND r.id = $2

-- name: list_run_events
-- The events of a run after one of them.
SELECT number, at, kind, data FROM schedule_run_events
WHERE tenant_id = $1 AND run_id = $2 AND number > $3
ORDER BY number
LIMIT $4
