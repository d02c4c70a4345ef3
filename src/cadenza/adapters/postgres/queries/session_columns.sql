s.id, s.tenant_id, s.job_id, s.endpoint_id, s.brain, s.started_at, s.duration_ms, s.ended_as,
s.tool_calls, s.reasoning, s.confidence, s.tokens, s.cost, s.warnings, s.next_analysis_at
