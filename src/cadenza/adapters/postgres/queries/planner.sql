-- What a planner finds, reads and leaves behind.

-- name: plan_for_these_values
-- For this transaction: claim_for_analysis is planned for its values. What happened in the last
-- seconds is found by index; everything is better read as a whole.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true)

-- name: claim_for_analysis
-- Lease endpoints that a brain should look at, and why, by the rules of domain/analysis.py.
--   $1 how many  $2 the brain  $3 who leases  $4 for how long  $5 tenants and jobs to leave out
--   $6 since when something must have happened  $7 what the brain wants to look at
--   $8 the least gap between looks of a model  $9 and between those that a streak made urgent
WITH clock AS MATERIALIZED (
    SELECT cadenza_now() AS now
),
-- Jobs in which something happened: by index, however many endpoints there are.
active_jobs AS MATERIALIZED (
    SELECT job_id FROM endpoints WHERE last_finished_at > $6
    UNION
    SELECT job_id FROM endpoints WHERE asked_at > $6
    UNION
    SELECT id FROM jobs WHERE $6 = '-infinity'::timestamptz
),
candidates AS (
    SELECT e.id, e.job_id, e.last_finished_at, e.last_failed_at, e.changed_at, e.asked_at,
           e.streak_changed_at,
           look.looked_at, look.next_analysis_at, look.streak_looked_at, look.failed_looks,
           coalesce(look.looked_at, '-infinity') AS seen_at,
           look.leased_until,
           coalesce((job.planner ->> 'min_gap_ms')::bigint * interval '1 millisecond', $8) AS min_gap,
           max(e.last_finished_at) OVER (PARTITION BY e.job_id) AS job_finished_at
    FROM active_jobs
    JOIN jobs AS job ON job.id = active_jobs.job_id
    JOIN tenants AS tenant ON tenant.id = job.tenant_id
    JOIN endpoints AS e ON e.job_id = active_jobs.job_id AND e.archived_at IS NULL
    LEFT JOIN looks AS look ON look.endpoint_id = e.id AND look.brain = $2
    WHERE job.tenant_id <> ALL ($5::uuid[]) AND job.id <> ALL ($5::uuid[])
      AND CASE WHEN $2 = 'llm' THEN coalesce(job.planner ->> 'llm', tenant.llm_mode) <> 'off'
               ELSE coalesce(job.planner ->> 'rules', tenant.rules_mode) <> 'off'
                    OR coalesce(job.planner ->> 'detectors', tenant.detectors_mode) <> 'off'
          END
),
judged AS (
    SELECT c.id, c.job_id, c.looked_at, c.last_finished_at, c.job_finished_at, c.changed_at,
           CASE
               WHEN c.asked_at > c.seen_at THEN 'asked'
               WHEN $7::text <> 'on-change' THEN CASE
                   WHEN c.last_finished_at > c.seen_at THEN 'ran'
                   WHEN $7 = 'every-run' AND c.job_finished_at > c.seen_at THEN 'sibling-ran'
               END
               WHEN c.last_finished_at IS NULL THEN NULL
               WHEN c.looked_at IS NULL THEN 'never-analysed'
               WHEN c.failed_looks > 0 THEN CASE
                   WHEN c.next_analysis_at <= clock.now AND c.last_finished_at > c.looked_at
                   THEN 'retry'
               END
               WHEN c.streak_changed_at > c.looked_at
                    AND coalesce(c.streak_looked_at + $9::interval <= clock.now, true)
               THEN 'failure-streak'
               WHEN c.looked_at + c.min_gap > clock.now THEN NULL
               WHEN EXISTS (
                   SELECT FROM endpoints AS sibling
                   WHERE sibling.job_id = c.job_id AND sibling.id <> c.id
                     AND sibling.archived_at IS NULL
                     AND greatest(sibling.steered_at, sibling.streak_changed_at) > c.looked_at
               ) THEN 'sibling-changed'
               WHEN c.last_finished_at <= c.looked_at THEN NULL
               WHEN c.last_failed_at > c.looked_at THEN 'failed'
               WHEN c.next_analysis_at <= clock.now THEN 'due'
           END AS reason
    FROM candidates AS c, clock
    WHERE c.leased_until IS NULL OR c.leased_until <= clock.now
),
chosen AS (
    SELECT c.id, c.looked_at, c.reason,
           row_number() OVER (
               ORDER BY
                   c.reason <> 'asked',  -- a person does not wait for the others
                   (c.changed_at = c.last_finished_at) IS NOT TRUE,  -- new answers first
                   CASE WHEN $7 = 'every-run' THEN c.job_finished_at ELSE c.last_finished_at END,
                   -- siblings together: what they share is read once
                   CASE WHEN $7 = 'every-run' THEN c.job_id END,
                   c.id
           ) AS position
    FROM judged AS c
    WHERE c.reason IS NOT NULL
    ORDER BY position
    LIMIT $1
),
leased AS (
    INSERT INTO looks AS look (endpoint_id, brain, looked_at, leased_until, leased_by)
    SELECT chosen.id, $2, chosen.looked_at, clock.now + $4, $3
    FROM chosen, clock
    ORDER BY chosen.id  -- in one order everywhere, so that no two planners wait in a circle
    ON CONFLICT (endpoint_id, brain) DO UPDATE
    SET leased_until = excluded.leased_until, leased_by = excluded.leased_by
    -- Another planner may have taken it, or looked at it and gone, since we read it.
    WHERE (look.leased_until IS NULL OR look.leased_until <= cadenza_now())
      AND look.looked_at IS NOT DISTINCT FROM excluded.looked_at
    RETURNING look.endpoint_id
)
SELECT chosen.id, chosen.reason
FROM chosen
JOIN leased ON leased.endpoint_id = chosen.id
ORDER BY chosen.position

-- name: release_looks
-- Give back what was leased and not looked at.
UPDATE looks SET leased_until = NULL, leased_by = NULL
WHERE endpoint_id = ANY ($1::uuid[]) AND brain = $2 AND leased_by = $3

-- name: analysis_contexts
-- Everything a brain is shown about each of these endpoints, in one go.
--   $1 endpoints  $2 how many responses  $3 the longest body  $4 the brain
SELECT
    cadenza_now() AS now, e.*,
    look.looked_at, look.reasoning AS last_reasoning, look.fired, look.memory,
    tenant.rules_mode, tenant.llm_mode, tenant.detectors_mode,
    coalesce(look.failed_looks, 0) AS failed_looks,
    waiting.calls AS waiting,
    job.name AS job_name, job.description AS job_description,
    job.paused_until AS job_pause, job.archived_at AS job_archived_at,
    job.rules AS job_rules, job.planner,
    health.*, recent.*
FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, position)
JOIN endpoint_states AS e ON e.id = wanted.id
JOIN jobs AS job ON job.id = e.job_id
JOIN tenants AS tenant ON tenant.id = e.tenant_id
LEFT JOIN looks AS look ON look.endpoint_id = e.id AND look.brain = $4
LEFT JOIN LATERAL (
    -- what this brain suggested before, and nobody has accepted
    SELECT json_agg(call.value) AS calls
    FROM analysis_sessions AS s, jsonb_array_elements(s.tool_calls) AS call
    WHERE s.endpoint_id = e.id AND split_part(s.brain, ' ', 1) = $4
      AND s.suggests_until > cadenza_now() AND is_open_suggestion(call.value, cadenza_now())
) AS waiting ON true
CROSS JOIN LATERAL endpoint_health(e.id) AS health
CROSS JOIN LATERAL (
    SELECT array_agg(r.slot_at ORDER BY r.slot_at DESC) AS recent_slot_at,
           array_agg(r.started_at ORDER BY r.slot_at DESC) AS recent_started_at,
           array_agg(r.finished_at ORDER BY r.slot_at DESC) AS recent_finished_at,
           array_agg(r.status ORDER BY r.slot_at DESC) AS recent_status,
           array_agg(r.status_code ORDER BY r.slot_at DESC) AS recent_status_code,
           array_agg(r.error_kind ORDER BY r.slot_at DESC) AS recent_error_kind,
           array_agg(CASE WHEN length(r.body::text) <= $3 THEN r.body::text END
                     ORDER BY r.slot_at DESC) AS recent_body
    FROM (
        SELECT r.slot_at, r.started_at, r.finished_at, r.status, r.status_code, r.error_kind,
               r.body
        FROM runs AS r
        WHERE r.endpoint_id = e.id AND r.status <> 'running'
        ORDER BY r.slot_at DESC
        LIMIT $2
    ) AS r
) AS recent
ORDER BY wanted.position

-- name: job_members
-- The endpoints of every job that these endpoints belong to, each once, with its latest answer.
--   $1 endpoints  $2 of answers longer than this, if that is given, the body is left out
--   $3 only these of them, or NULL for all  $4 the brain whose memory of them is wanted
SELECT e.*, look.memory,
       latest.slot_at AS latest_slot_at, latest.started_at AS latest_started_at,
       latest.finished_at AS latest_finished_at, latest.status AS latest_status,
       latest.status_code AS latest_status_code, latest.error_kind AS latest_error_kind,
       CASE WHEN $2::integer IS NULL OR length(latest.body::text) <= $2 THEN latest.body END
           AS latest_body
FROM endpoint_states AS e
LEFT JOIN LATERAL (
    SELECT r.slot_at, r.started_at, r.finished_at, r.status, r.status_code, r.error_kind, r.body
    FROM runs AS r
    WHERE r.endpoint_id = e.id AND r.status <> 'running'
    ORDER BY r.slot_at DESC
    LIMIT 1
) AS latest ON true
LEFT JOIN looks AS look ON look.endpoint_id = e.id AND look.brain = $4
WHERE e.archived_at IS NULL
  AND e.job_id IN (SELECT own.job_id FROM endpoints AS own WHERE own.id = ANY($1::uuid[]))
  AND ($3::uuid[] IS NULL OR e.id = ANY($3))
ORDER BY e.name

-- name: purse_members
-- The endpoints whose accounts make up the purses of these jobs: those alike are one row.
--   $1 tenant  $2 jobs
SELECT e.job_id, e.baseline_interval_ms, e.baseline_cron, e.timezone,
       look.memory -> 'account' AS account, count(*) AS count
FROM endpoints AS e
LEFT JOIN looks AS look ON look.endpoint_id = e.id AND look.brain = 'rules'
WHERE e.tenant_id = $1
  AND e.job_id = ANY ($2::uuid[])
  AND e.archived_at IS NULL
  AND (greatest(e.person_paused_until, e.planner_paused_until, e.job_paused_until)
       > cadenza_now()) IS NOT TRUE
GROUP BY 1, 2, 3, 4, 5

-- name: sibling_page
-- Some of the other endpoints of a job, by name.
SELECT sibling.id
FROM endpoints AS own
JOIN endpoints AS sibling
    ON sibling.job_id = own.job_id AND sibling.id <> own.id AND sibling.archived_at IS NULL
WHERE own.id = $1
ORDER BY sibling.name
LIMIT $2 OFFSET $3

-- name: endings
-- How the latest runs of an endpoint ended.
SELECT finished_at, status, status_code, error_kind
FROM runs
WHERE endpoint_id = $1 AND status <> 'running'
ORDER BY slot_at DESC
LIMIT $2

-- name: save_analysis_states
-- Remember what analyses came to, and end the leases of the planner that made them.
INSERT INTO looks AS state (
    endpoint_id, brain, looked_at, next_analysis_at, reasoning, idle_looks, fired,
    streak_looked_at, failed_looks, trouble, memory
)
SELECT new.endpoint_id, new.brain, new.looked_at, new.next_analysis_at, new.reasoning,
       new.idle_looks, new.fired,
       CASE WHEN new.reason = 'failure-streak' THEN new.looked_at END,
       new.failed_looks, new.trouble, new.memory
FROM unnest(
    $1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::bigint[],
    $7::jsonb[], $9::text[], $10::integer[], $11::text[], $12::jsonb[]
) AS new (
    endpoint_id, brain, looked_at, next_analysis_at, reasoning, idle_looks, fired, reason,
    failed_looks, trouble, memory
)
JOIN endpoints AS e ON e.id = new.endpoint_id  -- its owner may have deleted it meanwhile
ORDER BY new.endpoint_id
ON CONFLICT (endpoint_id, brain) DO UPDATE
SET looked_at = excluded.looked_at,
    next_analysis_at = excluded.next_analysis_at,
    reasoning = excluded.reasoning,
    idle_looks = state.idle_looks + excluded.idle_looks,
    fired = CASE WHEN state.fired = '{}' AND excluded.fired = '{}' THEN state.fired ELSE
        (state.fired || excluded.fired) - coalesce((
            SELECT array_agg(rule.id)
            FROM unnest($1::uuid[], $2::text[], $8::jsonb[]) AS gone (endpoint_id, brain, rules)
            CROSS JOIN jsonb_array_elements_text(gone.rules) AS rule (id)
            WHERE gone.endpoint_id = state.endpoint_id AND gone.brain = state.brain
        ), '{}')
    END,
    streak_looked_at = coalesce(excluded.streak_looked_at, state.streak_looked_at),
    failed_looks = excluded.failed_looks,
    trouble = excluded.trouble,
    memory = coalesce(excluded.memory, state.memory),
    leased_until = CASE WHEN state.leased_by = $13 THEN NULL ELSE state.leased_until END,
    leased_by = CASE WHEN state.leased_by = $13 THEN NULL ELSE state.leased_by END
RETURNING endpoint_id

-- name: analyses_of
-- How each brain stands to an endpoint; one row without a brain where none has looked.
SELECT look.brain, look.looked_at, look.next_analysis_at, look.failed_looks, look.trouble
FROM endpoints AS e
LEFT JOIN looks AS look ON look.endpoint_id = e.id
WHERE e.tenant_id = $1 AND e.id = $2
ORDER BY look.brain

-- name: note_skipped
-- Why no session is held about an endpoint, where that is news; looking at it stays to be done.
INSERT INTO looks AS state (endpoint_id, brain, trouble)
SELECT e.id, $2, $3 FROM endpoints AS e WHERE e.id = $1
ON CONFLICT (endpoint_id, brain) DO UPDATE SET trouble = excluded.trouble
WHERE state.trouble <> excluded.trouble
RETURNING endpoint_id

-- name: insert_session
-- Keep a session that did or wanted something.
INSERT INTO analysis_sessions (
    id, tenant_id, job_id, endpoint_id, brain, started_at, duration_ms, ended_as, tool_calls,
    reasoning, confidence, tokens, cost, warnings, next_analysis_at, prompt_version,
    suggests_until, acts_until, refusal, reason, input_tokens, cached_tokens, output_tokens,
    account_id
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        $20, $21, $22, $23, $24)
ON CONFLICT (id) DO NOTHING  -- sent again after an answer that was lost

-- name: count_refusal
-- The same was refused again: a count, and no session of its own.
--   $1 endpoint  $2 brain  $3 what was refused  $4 since when  $5 when it was now
UPDATE analysis_sessions
SET repeats = repeats + 1, last_at = $5
WHERE id = (
    SELECT s.id FROM analysis_sessions AS s
    WHERE s.endpoint_id = $1 AND s.brain = $2 AND s.refusal = $3
      AND coalesce(s.last_at, s.started_at) > $4
    ORDER BY s.started_at DESC
    LIMIT 1
)
RETURNING id

-- name: suggesting_sessions
-- Sessions with suggestions to a tenant that can still be accepted, the newest first.
--   $1 tenant  $2 how many  $3 only about these jobs
SELECT cadenza_now() AS now, s.*, e.name AS endpoint_name
FROM analysis_sessions AS s
JOIN endpoints AS e ON e.id = s.endpoint_id
WHERE s.tenant_id = $1 AND s.suggests_until > cadenza_now()
  AND ($3::uuid[] IS NULL OR s.job_id = ANY ($3))
  AND EXISTS (
      SELECT FROM jsonb_array_elements(s.tool_calls) AS call
      WHERE can_be_accepted(call.value, cadenza_now())
  )
ORDER BY s.started_at DESC, s.id
LIMIT $2

-- name: mark_dismissed
-- Who does not want a suggestion; nobody, where that is undone.
UPDATE analysis_sessions
SET tool_calls = jsonb_set(
        tool_calls,
        ARRAY[$3::integer::text],
        (tool_calls -> $3::integer) - 'dismissed_by'
            || CASE WHEN $4::text IS NULL THEN '{}'
                    ELSE jsonb_build_object('dismissed_by', $4::text) END
    )
WHERE tenant_id = $1 AND id = $2

-- name: mark_accepted
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
