-- Who accepted a suggestion and when.
UPDATE analysis_sessions
SET tool_calls = jsonb_set(
        tool_calls,
        ARRAY[$3::integer::text],
        (tool_calls -> $3::integer)
            || jsonb_build_object('accepted_by', $4::text, 'accepted_at', cadenza_now())
    ),
    -- what it leads to from now on is found by this
    acts_until = greatest(acts_until, $5)
WHERE tenant_id = $1 AND id = $2
