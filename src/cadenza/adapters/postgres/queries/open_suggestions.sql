-- What planners suggest to a tenant and nobody has accepted, the newest first.
SELECT s.id AS session_id, (call.ordinality - 1)::integer AS call, s.endpoint_id,
       e.name AS endpoint_name, s.brain, s.reasoning, s.started_at, call.value AS told
FROM analysis_sessions AS s
JOIN endpoints AS e ON e.id = s.endpoint_id,
jsonb_array_elements(s.tool_calls) WITH ORDINALITY AS call
WHERE s.tenant_id = $1 AND s.suggests_until > cadenza_now()
      AND {is_open}
ORDER BY s.started_at DESC, s.id, call.ordinality
LIMIT $2
