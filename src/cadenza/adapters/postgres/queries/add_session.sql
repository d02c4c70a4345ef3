-- Keep a session that did or wanted something.
INSERT INTO analysis_sessions (
    id, tenant_id, job_id, endpoint_id, brain, started_at, duration_ms, ended_as, tool_calls,
    reasoning, confidence, tokens, cost, warnings, next_analysis_at, prompt_version,
    suggests_until, acts_until
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
ON CONFLICT (id) DO NOTHING  -- told again after an answer that was lost
