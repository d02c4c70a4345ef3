claimed AS (
    UPDATE endpoints AS e
    SET lease_epoch = e.lease_epoch + 1,
        lease_until = clock.now + $2,
        leased_by = $4,
        running_run_id = coalesce(e.running_run_id, ($5::uuid[])[picked.number]),
        running_slot_at = picked.slot_at,
        running_attempt = coalesce(e.running_attempt, 0) + 1,
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
    FROM claimed
    WHERE attempt = 1
),
taken_over AS (
    UPDATE runs
    SET attempt = claimed.attempt, epoch = claimed.epoch
    FROM claimed
    WHERE claimed.attempt > 1
      AND runs.endpoint_id = claimed.endpoint_id AND runs.slot_at = claimed.slot_at
),
noted AS (
    INSERT INTO run_attempts (run_id, attempt, tenant_id, endpoint_id, slot_at, noted_at)
    SELECT run_id, attempt - 1, tenant_id, endpoint_id, slot_at, clock.now
    FROM claimed, clock
    WHERE attempt > 1
    ON CONFLICT DO NOTHING  -- a takeover that was given back has noted it before
)
