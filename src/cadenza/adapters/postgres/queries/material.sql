-- Everything a brain is shown about each of these endpoints, in one go.
SELECT
    cadenza_now() AS now, {endpoint_columns}, e.plan, e.looked_at, e.last_reasoning,
    job.name AS job_name, job.description AS job_description,
    job.paused_until AS job_pause, job.archived_at AS job_archived_at,
    job.rules AS job_rules, job.planner_mode, job.probe_budget,
    siblings.names AS sibling_names,
    health.*, changes.*, recent.*
FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, place)
JOIN endpoints AS e ON e.id = wanted.id
JOIN jobs AS job ON job.id = e.job_id
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(sibling.name ORDER BY sibling.name), '{}') AS names
    FROM endpoints AS sibling
    WHERE sibling.job_id = e.job_id AND sibling.id <> e.id AND sibling.archived_at IS NULL
) AS siblings
CROSS JOIN LATERAL (
    {health_windows}
) AS health
CROSS JOIN LATERAL (
    -- how often it went from well to failing within the day, and when it last changed
    SELECT count(*) FILTER (WHERE each.was_well AND NOT each.is_well) AS outages,
           max(each.finished_at) FILTER (WHERE each.was_well <> each.is_well) AS state_changed_at
    FROM (
        SELECT r.finished_at, r.status = 'success' AS is_well,
               lag(r.status = 'success') OVER (ORDER BY r.slot_at) AS was_well
        FROM runs AS r
        WHERE r.endpoint_id = e.id
          AND r.slot_at > cadenza_now() - interval '25 hours'
          AND r.finished_at > cadenza_now() - interval '24 hours'
          AND r.status IN ('success', 'failure', 'timeout')
    ) AS each
) AS changes
CROSS JOIN LATERAL (
    SELECT array_agg(r.slot_at ORDER BY r.slot_at DESC) AS recent_slot_at,
           array_agg(r.started_at ORDER BY r.slot_at DESC) AS recent_started_at,
           array_agg(r.finished_at ORDER BY r.slot_at DESC) AS recent_finished_at,
           array_agg(r.status ORDER BY r.slot_at DESC) AS recent_status,
           array_agg(r.status_code ORDER BY r.slot_at DESC) AS recent_status_code,
           array_agg(CASE WHEN length(r.body::text) <= $3 THEN r.body::text END
                     ORDER BY r.slot_at DESC) AS recent_body
    FROM (
        SELECT r.slot_at, r.started_at, r.finished_at, r.status, r.status_code, r.body
        FROM runs AS r
        WHERE r.endpoint_id = e.id AND r.status <> 'running'
        ORDER BY r.slot_at DESC
        LIMIT $2
    ) AS r
) AS recent
ORDER BY wanted.place
