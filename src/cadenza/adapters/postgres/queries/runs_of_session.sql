-- The runs whose slots were chosen by a session's hints and pauses: only while those could act.
SELECT r.id AS run_id, r.endpoint_id, e.name AS endpoint_name, r.slot_at, r.source, r.status
FROM analysis_sessions AS s
JOIN endpoints AS e
    ON e.job_id = s.job_id AND e.name IN (
        SELECT call.value -> 'result' ->> 'endpoint'
        FROM jsonb_array_elements(s.tool_calls) AS call
        WHERE call.value ->> 'took_effect' = 'true' OR call.value ->> 'accepted_by' IS NOT NULL
    )
JOIN runs AS r
    ON r.endpoint_id = e.id
   AND r.slot_at >= s.started_at
   AND r.slot_at <= s.acts_until
WHERE s.tenant_id = $1 AND s.id = $2 AND r.plan ->> 'session_id' = $2::uuid::text
ORDER BY r.slot_at, r.endpoint_id
LIMIT $3
