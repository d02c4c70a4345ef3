-- What was stored before 0008: rules get a form of their own, with an id, so that a stricter check of
-- what people write never makes an old row unreadable; and hints, pauses and cooldowns that were known
-- by a rule's name get its id. In a transaction of its own, in which no table is locked as a whole.

-- In the order in which everybody locks them, so that nobody waits for us in a circle.
SELECT id FROM jobs WHERE rules <> '[]' ORDER BY id FOR NO KEY UPDATE;
SELECT id FROM endpoints
WHERE 'planner' IN (hint_interval_author, hint_run_author) OR planner_paused_until IS NOT NULL
ORDER BY id FOR NO KEY UPDATE;
SELECT endpoint_id FROM looks WHERE fired <> '{}' ORDER BY endpoint_id, brain FOR NO KEY UPDATE;

-- Milliseconds, from a number of them or from text like 1h30m, 90s or 250ms.
CREATE FUNCTION written_ms(duration jsonb) RETURNS bigint LANGUAGE sql AS $$
    SELECT CASE jsonb_typeof(duration)
        WHEN 'number' THEN duration::bigint
        WHEN 'string' THEN (
            SELECT sum(part[1]::bigint * CASE part[2]
                WHEN 'w' THEN 604800000 WHEN 'd' THEN 86400000 WHEN 'h' THEN 3600000
                WHEN 'm' THEN 60000 WHEN 's' THEN 1000 WHEN 'ms' THEN 1 END)
            FROM regexp_matches(lower(duration #>> '{}'), '([0-9]+)(ms|[wdhms])', 'g') AS part
        )
    END
$$;

UPDATE jobs
SET rules = (
    SELECT jsonb_agg(
        jsonb_build_object(
            'id', gen_random_uuid(),
            'name', written.rule -> 'name',
            'endpoint', written.rule -> 'endpoint',
            'when', written.rule -> 'when',
            'runs', coalesce(written.rule -> 'for', '1'),
            'then', (
                SELECT jsonb_build_object(
                    'action', action.name,
                    'duration_ms', CASE WHEN action.name IN ('interval', 'run_in', 'pause')
                                        THEN written_ms(action.value) END,
                    'at', CASE WHEN action.name = 'run_at' THEN action.value END,
                    'endpoint', written.rule #> '{then,endpoint}'
                )
                FROM jsonb_each(written.rule -> 'then') AS action (name, value)
                WHERE action.name <> 'endpoint' AND action.value NOT IN ('null', 'false')
            ),
            'ttl_ms', coalesce(written_ms(written.rule -> 'ttl'), 3600000),
            'cooldown_ms', coalesce(written_ms(written.rule -> 'cooldown'), 0),
            'reason', coalesce(written.rule -> 'reason', '""')
        )
        ORDER BY written.position
    )
    FROM jsonb_array_elements(jobs.rules) WITH ORDINALITY AS written (rule, position)
)
WHERE rules <> '[]';

-- Who wrote what a planner wrote: the rule that the reason names, the longest where several fit;
-- else the brain of its session. What another brain wrote is not a rule's, whatever it says.
CREATE FUNCTION planner_author(job_id uuid, reason text, session_id uuid)
    RETURNS TABLE (brain text, rule_id uuid) LANGUAGE sql AS $$
    SELECT coalesce(session.brain, 'rules'), rule.id
    FROM (SELECT) AS always
    LEFT JOIN (
        SELECT split_part(s.brain, ' ', 1) AS brain FROM analysis_sessions AS s WHERE s.id = $3
    ) AS session ON true
    LEFT JOIN (
        SELECT (stored.rule ->> 'id')::uuid AS id
        FROM jobs AS job, jsonb_array_elements(job.rules) AS stored (rule)
        WHERE job.id = $1
          AND ($2 = 'Rule ' || (stored.rule ->> 'name')
               OR starts_with($2, 'Rule ' || (stored.rule ->> 'name') || ': '))
        ORDER BY length(stored.rule ->> 'name') DESC
        LIMIT 1
    ) AS rule ON coalesce(session.brain, 'rules') = 'rules'
$$;

UPDATE endpoints AS e
SET (hint_interval_brain, hint_interval_rule_id) = (
    SELECT brain, rule_id
    FROM planner_author(e.job_id, e.hint_interval_reason, e.hint_interval_session_id)
)
WHERE e.hint_interval_author = 'planner';

UPDATE endpoints AS e
SET (hint_run_brain, hint_run_rule_id) = (
    SELECT brain, rule_id
    FROM planner_author(e.job_id, e.hint_run_reason, e.hint_run_session_id)
)
WHERE e.hint_run_author = 'planner';

UPDATE endpoints AS e
SET (planner_pause_brain, planner_pause_rule_id) = (
    SELECT brain, rule_id
    FROM planner_author(e.job_id, e.planner_pause_reason, e.planner_pause_session_id)
)
WHERE e.planner_paused_until IS NOT NULL;

-- When each rule last did something; rules that are gone are forgotten.
UPDATE looks
SET fired = (
    SELECT coalesce(jsonb_object_agg(stored.rule ->> 'id', known.at), '{}')
    FROM jsonb_each(looks.fired) AS known (name, at)
    JOIN endpoints AS e ON e.id = looks.endpoint_id
    JOIN jobs AS job ON job.id = e.job_id
    CROSS JOIN jsonb_array_elements(job.rules) AS stored (rule)
    WHERE stored.rule ->> 'name' = known.name
)
WHERE fired <> '{}';

DROP FUNCTION written_ms(jsonb);
DROP FUNCTION planner_author(uuid, text, uuid);
