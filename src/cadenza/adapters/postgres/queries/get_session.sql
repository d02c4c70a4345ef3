-- One session in full.
SELECT {session_columns}
FROM analysis_sessions AS s
WHERE s.tenant_id = $1 AND s.id = $2
