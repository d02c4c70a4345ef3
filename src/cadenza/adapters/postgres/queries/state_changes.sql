-- how often it went from well to failing within the day, and when it last changed
    SELECT count(*) FILTER (WHERE each.was_well AND NOT each.is_well) AS outages,
           max(each.finished_at) FILTER (WHERE each.was_well <> each.is_well) AS state_changed_at
    FROM (
        SELECT r.finished_at, r.status = 'success' AS is_well,
               lag(r.status = 'success') OVER (ORDER BY r.slot_at) AS was_well
        FROM runs AS r
        WHERE r.endpoint_id = e.id
          AND r.slot_at > (SELECT cadenza_now()) - interval '25 hours'
          AND r.finished_at > (SELECT cadenza_now()) - interval '24 hours'
          AND r.status IN ('success', 'failure', 'timeout')
    ) AS each
