SELECT
        count(*) FILTER (WHERE each.finished_at > (SELECT cadenza_now()) - interval '1 hour')
            AS runs_1h,
        count(*) FILTER (WHERE each.finished_at > (SELECT cadenza_now()) - interval '1 hour'
                           AND each.is_well) AS successes_1h,
        count(*) FILTER (WHERE each.finished_at > (SELECT cadenza_now()) - interval '4 hours')
            AS runs_4h,
        count(*) FILTER (WHERE each.finished_at > (SELECT cadenza_now()) - interval '4 hours'
                           AND each.is_well) AS successes_4h,
        count(*) AS runs_24h,
        count(*) FILTER (WHERE each.is_well) AS successes_24h,
        avg(each.finished_at - each.started_at) AS mean_duration,
        -- how often it went from well to failing within the day, and when it last changed
        count(*) FILTER (WHERE each.was_well AND NOT each.is_well) AS outages,
        max(each.finished_at) FILTER (WHERE each.was_well <> each.is_well) AS state_changed_at
    FROM (
        SELECT r.started_at, r.finished_at, r.status = 'success' AS is_well,
               lag(r.status = 'success') OVER (ORDER BY r.slot_at) AS was_well
        FROM runs AS r
        WHERE r.endpoint_id = e.id
          -- By slot, which the key and the days are ordered by; a run ends at most an hour after
          -- it. The clock is asked once: asked with every row, it could not say which part of the
          -- index.
          AND r.slot_at > (SELECT cadenza_now()) - interval '25 hours'
          AND r.finished_at > (SELECT cadenza_now()) - interval '24 hours'
          AND r.status IN ('success', 'failure', 'timeout')
    ) AS each
