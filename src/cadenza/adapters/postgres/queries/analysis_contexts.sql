-- Everything a brain is shown about each of these endpoints, in one go.
SELECT
    cadenza_now() AS now, {endpoint_columns}, e.plan,
    look.looked_at, look.reasoning AS last_reasoning, look.fired,
    coalesce(
        job.planner_mode, CASE WHEN $4 = 'llm' THEN tenant.llm_mode ELSE tenant.rules_mode END
    ) AS mode,
    waiting.calls AS waiting,
    job.name AS job_name, job.description AS job_description,
    job.paused_until AS job_pause, job.archived_at AS job_archived_at,
    job.rules AS job_rules, job.planner_mode, job.probe_budget,
    siblings.names AS sibling_names,
    health.*, recent.*
FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, place)
JOIN endpoints AS e ON e.id = wanted.id
JOIN jobs AS job ON job.id = e.job_id
JOIN tenants AS tenant ON tenant.id = e.tenant_id
LEFT JOIN looks AS look ON look.endpoint_id = e.id AND look.brain = $4
LEFT JOIN LATERAL (
    -- what this brain suggested before, and nobody has accepted
    SELECT json_agg(call.value) AS calls
    FROM analysis_sessions AS s, jsonb_array_elements(s.tool_calls) AS call
    WHERE s.endpoint_id = e.id AND split_part(s.brain, ' ', 1) = $4 AND s.suggests_until > cadenza_now()
      AND {is_open}
) AS waiting ON true
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(sibling.name ORDER BY sibling.name), '{}') AS names
    FROM endpoints AS sibling
    WHERE sibling.job_id = e.job_id AND sibling.id <> e.id AND sibling.archived_at IS NULL
) AS siblings
CROSS JOIN LATERAL (
    {health_windows}
) AS health
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
