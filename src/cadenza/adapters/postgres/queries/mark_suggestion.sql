-- Who accepted a suggestion and when; nobody, where what was accepted could not be done.
UPDATE analysis_sessions
SET tool_calls = jsonb_set(
        tool_calls,
        ARRAY[$3::integer::text],
        (tool_calls -> $3::integer) - 'accepted_by' - 'accepted_at'
            || CASE WHEN $4::text IS NULL THEN '{}'
                    ELSE jsonb_build_object('accepted_by', $4::text, 'accepted_at', cadenza_now())
               END
    ),
    -- what it leads to from now on is found by this
    acts_until = CASE WHEN $4 IS NULL THEN acts_until ELSE greatest(acts_until, $5) END
WHERE tenant_id = $1 AND id = $2
