SELECT
        count(*) FILTER (WHERE r.finished_at > (SELECT cadenza_now()) - interval '1 hour')
            AS runs_1h,
        count(*) FILTER (WHERE r.finished_at > (SELECT cadenza_now()) - interval '1 hour'
                           AND r.status = 'success') AS successes_1h,
        count(*) FILTER (WHERE r.finished_at > (SELECT cadenza_now()) - interval '4 hours')
            AS runs_4h,
        count(*) FILTER (WHERE r.finished_at > (SELECT cadenza_now()) - interval '4 hours'
                           AND r.status = 'success') AS successes_4h,
        count(*) AS runs_24h,
        count(*) FILTER (WHERE r.status = 'success') AS successes_24h,
        avg(r.finished_at - r.started_at) AS mean_duration
    FROM runs AS r
    WHERE r.endpoint_id = e.id
      -- By slot, which the key and the days are ordered by; a run ends at most an hour after it.
      -- The clock is asked once: asked with every row, it could not say which part of the index.
      AND r.slot_at > (SELECT cadenza_now()) - interval '25 hours'
      AND r.finished_at > (SELECT cadenza_now()) - interval '24 hours'
      AND r.status IN ('success', 'failure', 'timeout')
