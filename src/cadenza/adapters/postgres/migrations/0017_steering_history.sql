-- Hints and pauses as they were: who set them, from when to when, and how they ended.
CREATE TABLE steering_history (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    endpoint_id uuid NOT NULL REFERENCES endpoints ON DELETE CASCADE,
    kind text NOT NULL
        CHECK (kind IN ('interval', 'once', 'person-pause', 'planner-pause', 'job-pause')),
    begun_at timestamptz NOT NULL DEFAULT cadenza_now(),
    until_at timestamptz NOT NULL,  -- when it ends by itself, or ended before that
    planned_until_at timestamptz,  -- of one that was ended: when it would have
    ended_as text CHECK (ended_as IN ('cleared', 'replaced')),
    ended_by text CHECK (ended_by IN ('person', 'planner')),
    ended_by_user_id uuid,
    ended_by_session_id uuid,
    interval_ms bigint,
    run_at timestamptz,
    tightens boolean,
    author text NOT NULL CHECK (author IN ('person', 'planner')),
    user_id uuid,
    brain text,
    rule_id uuid,
    session_id uuid,
    reason text NOT NULL DEFAULT '',
    renewals integer NOT NULL DEFAULT 0,
    CONSTRAINT what_was_ended_says_how
        CHECK (num_nulls(planned_until_at, ended_as, ended_by) IN (0, 3)),
    CONSTRAINT an_interval_has_a_length CHECK ((kind = 'interval') = (interval_ms IS NOT NULL)),
    CONSTRAINT one_run_has_an_instant CHECK ((kind = 'once') = (run_at IS NOT NULL))
);
CREATE INDEX steering_of_endpoint ON steering_history (endpoint_id, until_at);
CREATE INDEX steering_of_tenant ON steering_history (tenant_id, begun_at, id);
CREATE INDEX steering_by_end ON steering_history (until_at);

-- What is in force now began when the endpoint was last steered, as far as is known.
INSERT INTO steering_history (tenant_id, endpoint_id, kind, begun_at, until_at, interval_ms,
                              run_at, tightens, author, user_id, brain, rule_id, session_id, reason)
SELECT e.tenant_id, e.id, now.kind, coalesce(e.steered_at, cadenza_now()), now.until_at,
       now.interval_ms, now.run_at, now.interval_ms <= e.baseline_interval_ms, now.author,
       now.user_id, now.brain, now.rule_id, now.session_id, coalesce(now.reason, '')
FROM endpoints AS e
CROSS JOIN LATERAL (
    VALUES
        ('interval', e.hint_interval_expires_at, e.hint_interval_ms, NULL::timestamptz,
         e.hint_interval_author, e.hint_interval_user_id, e.hint_interval_brain,
         e.hint_interval_rule_id, e.hint_interval_session_id, e.hint_interval_reason),
        ('once', e.hint_run_expires_at, NULL, e.hint_run_at,
         e.hint_run_author, e.hint_run_user_id, e.hint_run_brain,
         e.hint_run_rule_id, e.hint_run_session_id, e.hint_run_reason),
        ('person-pause', e.person_paused_until, NULL, NULL, 'person', e.person_pause_user_id,
         NULL, NULL, NULL, e.person_pause_reason),
        ('planner-pause', e.planner_paused_until, NULL, NULL, 'planner', NULL,
         e.planner_pause_brain, e.planner_pause_rule_id, e.planner_pause_session_id,
         e.planner_pause_reason),
        ('job-pause', e.job_paused_until, NULL, NULL, 'person', NULL, NULL, NULL, NULL, '')
) AS now (kind, until_at, interval_ms, run_at, author, user_id, brain, rule_id, session_id, reason)
WHERE now.until_at > cadenza_now() AND e.archived_at IS NULL;

-- Whether the run that a hint's interval chose came later than the baseline alone would have.
CREATE FUNCTION is_relaxed(plan json) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT max((candidate ->> 'at')::timestamptz)
           FILTER (WHERE candidate ->> 'source' = 'ai-interval')
     > max((candidate ->> 'at')::timestamptz)
           FILTER (WHERE candidate ->> 'source' LIKE 'baseline-%')
FROM json_array_elements(plan -> 'candidates') AS candidate
$$;

-- The family that a run is drawn in: by its source, and where a hint's interval chose it, by
-- whether the baseline alone would have come later (tightened) or sooner (relaxed). It has no
-- query in it, so that it becomes part of the query that it is in: runs come by thousands.
CREATE FUNCTION run_family(source text, is_manual boolean, plan json) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT CASE
    WHEN is_manual OR source = 'manual' THEN 'manual'
    WHEN source IN ('baseline-cron', 'baseline-interval') THEN 'baseline'
    WHEN source = 'ai-oneshot' THEN 'once'
    WHEN source <> 'ai-interval' THEN 'held'
    WHEN is_relaxed(plan) THEN 'relaxed'
    ELSE 'tightened'
END
$$;
