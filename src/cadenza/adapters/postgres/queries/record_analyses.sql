-- Remember that endpoints were looked at, and end the leases of the planner that did.
INSERT INTO looks AS look (
    endpoint_id, brain, looked_at, next_analysis_at, reasoning, idle_looks, fired
)
SELECT given.endpoint_id, given.brain, given.looked_at, given.next_analysis_at, given.reasoning,
       given.idle_looks, given.fired::jsonb
FROM unnest(
    $1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::bigint[],
    $7::text[]
) AS given (endpoint_id, brain, looked_at, next_analysis_at, reasoning, idle_looks, fired)
JOIN endpoints AS e ON e.id = given.endpoint_id  -- its owner may have deleted it meanwhile
ORDER BY given.endpoint_id
ON CONFLICT (endpoint_id, brain) DO UPDATE
SET looked_at = excluded.looked_at,
    next_analysis_at = excluded.next_analysis_at,
    reasoning = excluded.reasoning,
    idle_looks = look.idle_looks + excluded.idle_looks,
    fired = CASE WHEN look.fired = '{}' AND excluded.fired = '{}' THEN look.fired ELSE (
        -- without those that their owner has taken out of the job
        SELECT coalesce(jsonb_object_agg(known.rule, known.at), '{}')
        FROM jsonb_each(look.fired || excluded.fired) AS known (rule, at)
        WHERE known.rule IN (
            SELECT declared.rule ->> 'name'
            FROM endpoints AS e
            JOIN jobs AS job ON job.id = e.job_id
            CROSS JOIN jsonb_array_elements(job.rules) AS declared (rule)
            WHERE e.id = look.endpoint_id
        )
    ) END,
    leased_until = CASE WHEN look.leased_by = $8 THEN NULL ELSE look.leased_until END,
    leased_by = CASE WHEN look.leased_by = $8 THEN NULL ELSE look.leased_by END
RETURNING endpoint_id
