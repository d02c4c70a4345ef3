      -- no live lease; in flight with a lost worker, or free to start by its own schedule
      (e.lease_until IS NULL OR e.lease_until <= (SELECT now FROM clock))
  AND e.tenant_id <> ALL ($10::uuid[])
  AND e.host <> ALL ($11::text[])
  AND (
        (e.running_run_id IS NOT NULL AND NOT e.running_is_manual)
     OR (
            e.running_run_id IS NULL
        AND e.manual_slot_at IS NULL
        AND e.archived_at IS NULL
        AND coalesce(
                greatest(e.person_paused_until, e.planner_paused_until, e.job_paused_until),
                '-infinity'
            ) <= (SELECT now FROM clock)
        )
      )
