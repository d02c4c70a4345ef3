-- One call of a session, for the one who accepts it first.
SELECT s.id AS session_id, $3::integer AS call, s.endpoint_id, e.name AS endpoint_name, s.brain,
       s.reasoning, s.started_at, s.tool_calls -> $3::integer AS told, cadenza_now() AS now
FROM analysis_sessions AS s
JOIN endpoints AS e ON e.id = s.endpoint_id
WHERE s.tenant_id = $1 AND s.id = $2
FOR UPDATE OF s
