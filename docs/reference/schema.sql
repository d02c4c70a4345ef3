-- What all migrations together make; only to read. Written by
-- `python -m tests.adapters.postgres.dump_schema`, and held to the migrations by a test.

CREATE FUNCTION public.cadenza_now() RETURNS timestamp with time zone
    LANGUAGE sql PARALLEL RESTRICTED
    AS $$SELECT clock_timestamp()$$;

CREATE FUNCTION public.can_be_accepted(call jsonb, now timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
SELECT is_open_suggestion(call, now) AND call ->> 'dismissed_by' IS NULL
$$;

CREATE TABLE public.endpoints (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    job_id uuid NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    archived_at timestamp with time zone,
    target jsonb NOT NULL,
    host text DEFAULT ''::text NOT NULL,
    baseline_interval_ms bigint,
    baseline_cron text,
    timezone text,
    min_interval_ms bigint,
    max_interval_ms bigint,
    hint_interval_ms bigint,
    hint_interval_expires_at timestamp with time zone,
    hint_interval_author text,
    hint_interval_reason text,
    hint_run_at timestamp with time zone,
    hint_run_expires_at timestamp with time zone,
    hint_run_author text,
    hint_run_reason text,
    person_paused_until timestamp with time zone,
    person_pause_reason text,
    planner_paused_until timestamp with time zone,
    planner_pause_reason text,
    job_paused_until timestamp with time zone,
    planner_changes timestamp with time zone[] DEFAULT '{}'::timestamp with time zone[] NOT NULL,
    failure_count integer DEFAULT 0 NOT NULL,
    not_before_at timestamp with time zone,
    last_run_at timestamp with time zone,
    last_slot_at timestamp with time zone,
    next_run_at timestamp with time zone,
    next_source text,
    plan json,
    manual_slot_at timestamp with time zone,
    running_run_id uuid,
    running_slot_at timestamp with time zone,
    running_attempt integer,
    running_claimed_at timestamp with time zone,
    running_is_manual boolean DEFAULT false NOT NULL,
    lease_epoch bigint DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone,
    leased_by text,
    last_finished_at timestamp with time zone,
    last_failed_at timestamp with time zone,
    last_answer bigint,
    changed_at timestamp with time zone,
    asked_at timestamp with time zone,
    secret_headers jsonb,
    revision integer DEFAULT 1 NOT NULL,
    hint_interval_session_id uuid,
    hint_run_session_id uuid,
    planner_pause_session_id uuid,
    hint_interval_user_id uuid,
    hint_interval_brain text,
    hint_interval_rule_id uuid,
    hint_run_user_id uuid,
    hint_run_brain text,
    hint_run_rule_id uuid,
    person_pause_user_id uuid,
    planner_pause_brain text,
    planner_pause_rule_id uuid,
    person_ran_at timestamp with time zone,
    steered_at timestamp with time zone,
    streak_changed_at timestamp with time zone,
    runs_on text DEFAULT ''::text NOT NULL,
    running_started_at timestamp with time zone,
    target_changed_at timestamp with time zone,
    backs_off boolean DEFAULT true NOT NULL,
    CONSTRAINT a_hint_expires CHECK (((num_nulls(hint_interval_ms, hint_interval_expires_at, hint_interval_author) = ANY (ARRAY[0, 3])) AND (num_nulls(hint_run_at, hint_run_expires_at, hint_run_author) = ANY (ARRAY[0, 3])))),
    CONSTRAINT a_lease_has_a_run CHECK (((lease_until IS NULL) OR (running_run_id IS NOT NULL))),
    CONSTRAINT a_lease_has_an_epoch CHECK (((lease_until IS NULL) OR (lease_epoch > 0))),
    CONSTRAINT a_next_run_has_a_source CHECK (((next_run_at IS NULL) OR (next_source IS NOT NULL))),
    CONSTRAINT a_run_in_flight_is_whole CHECK ((num_nulls(running_run_id, running_slot_at, running_attempt, running_claimed_at) = ANY (ARRAY[0, 4]))),
    CONSTRAINT a_start_has_a_run CHECK (((running_started_at IS NULL) OR (running_run_id IS NOT NULL))),
    CONSTRAINT cron_has_a_zone CHECK (((baseline_cron IS NULL) = (timezone IS NULL))),
    CONSTRAINT endpoints_baseline_interval_ms_check CHECK (((baseline_interval_ms >= 1) AND (baseline_interval_ms <= '31622400000'::bigint))),
    CONSTRAINT endpoints_failure_count_check CHECK ((failure_count >= 0)),
    CONSTRAINT endpoints_hint_interval_author_check CHECK ((hint_interval_author = ANY (ARRAY['person'::text, 'planner'::text]))),
    CONSTRAINT endpoints_hint_interval_ms_check CHECK ((hint_interval_ms > 0)),
    CONSTRAINT endpoints_hint_run_author_check CHECK ((hint_run_author = ANY (ARRAY['person'::text, 'planner'::text]))),
    CONSTRAINT endpoints_max_interval_ms_check CHECK (((max_interval_ms >= 1) AND (max_interval_ms <= '31622400000'::bigint))),
    CONSTRAINT endpoints_min_interval_ms_check CHECK (((min_interval_ms >= 1) AND (min_interval_ms <= '31622400000'::bigint))),
    CONSTRAINT min_is_not_above_max CHECK ((min_interval_ms <= max_interval_ms)),
    CONSTRAINT one_baseline CHECK ((num_nonnulls(baseline_interval_ms, baseline_cron) <= 1))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05', autovacuum_analyze_scale_factor='0.05');

CREATE FUNCTION public.claimable_from(e public.endpoints) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE
        -- In flight: when its worker is lost. A run that a person asked for is the sweep's alone.
        WHEN e.running_run_id IS NOT NULL AND e.running_is_manual THEN NULL
        WHEN e.running_run_id IS NOT NULL THEN coalesce(e.lease_until, '-infinity')
        WHEN e.archived_at IS NOT NULL THEN NULL
        WHEN e.manual_slot_at IS NOT NULL THEN NULL  -- what a person asked for comes first
        ELSE coalesce(
            greatest(e.person_paused_until, e.planner_paused_until, e.job_paused_until), '-infinity'
        )
    END
    $$;

CREATE FUNCTION public.endpoint_health(of_endpoint uuid) RETURNS TABLE(runs_1h bigint, successes_1h bigint, runs_4h bigint, successes_4h bigint, runs_24h bigint, successes_24h bigint, mean_duration interval, outages bigint, state_changed_at timestamp with time zone)
    LANGUAGE sql STABLE
    AS $$
    SELECT
        count(*) FILTER (WHERE run.finished_at > (SELECT cadenza_now()) - interval '1 hour'),
        count(*) FILTER (WHERE run.finished_at > (SELECT cadenza_now()) - interval '1 hour'
                           AND run.is_well),
        count(*) FILTER (WHERE run.finished_at > (SELECT cadenza_now()) - interval '4 hours'),
        count(*) FILTER (WHERE run.finished_at > (SELECT cadenza_now()) - interval '4 hours'
                           AND run.is_well),
        count(*),
        count(*) FILTER (WHERE run.is_well),
        avg(run.finished_at - run.started_at),
        -- how often it went from well to failing within the day, and when it last changed
        count(*) FILTER (WHERE run.was_well AND NOT run.is_well),
        max(run.finished_at) FILTER (WHERE run.was_well <> run.is_well)
    FROM (
        SELECT r.started_at, r.finished_at, r.status = 'success' AS is_well,
               lag(r.status = 'success') OVER (ORDER BY r.slot_at) AS was_well
        FROM runs AS r
        WHERE r.endpoint_id = of_endpoint
          -- By slot, which the key and the partitions are ordered by; a run ends at most an hour
          -- after it. The clock is a sub-select because an index cannot be searched by a value that
          -- may change from row to row.
          AND r.slot_at > (SELECT cadenza_now()) - interval '25 hours'
          AND r.finished_at > (SELECT cadenza_now()) - interval '24 hours'
          AND r.status IN ('success', 'failure', 'timeout')
    ) AS run
    $$;

CREATE FUNCTION public.has_ended_with(of_endpoint uuid, at_slot timestamp with time zone, error text, code integer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
SELECT EXISTS (
    SELECT FROM runs AS r
    WHERE r.endpoint_id = of_endpoint AND r.slot_at = at_slot
      AND (error IS NULL OR r.error_message ILIKE error OR r.error_kind ILIKE error)
      AND (code IS NULL OR r.status_code = code)
)
$$;

CREATE FUNCTION public.is_in_state(state text, paused_until timestamp with time zone, failure_count integer, next_run_at timestamp with time zone, running_slot_at timestamp with time zone, hinted_until timestamp with time zone) RETURNS boolean
    LANGUAGE sql PARALLEL RESTRICTED
    AS $$
SELECT CASE state
    WHEN 'paused' THEN paused_until > cadenza_now()
    WHEN 'active' THEN (paused_until > cadenza_now()) IS NOT TRUE
    WHEN 'failing' THEN failure_count > 0
    WHEN 'late' THEN next_run_at < cadenza_now() - interval '10 seconds'
        AND running_slot_at IS NULL
    WHEN 'hinted' THEN hinted_until > cadenza_now()
    ELSE true
END
$$;

CREATE FUNCTION public.is_open_suggestion(call jsonb, now timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
SELECT (call ->> 'open_until')::timestamptz > now
   AND call ->> 'suggested' = 'true'
   AND call ->> 'accepted_by' IS NULL
$$;

CREATE FUNCTION public.is_relaxed(plan json) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
SELECT max((candidate ->> 'at')::timestamptz)
           FILTER (WHERE candidate ->> 'source' = 'ai-interval')
     > max((candidate ->> 'at')::timestamptz)
           FILTER (WHERE candidate ->> 'source' LIKE 'baseline-%')
FROM json_array_elements(plan -> 'candidates') AS candidate
$$;

CREATE FUNCTION public.listed_run(of_endpoint uuid, at_slot timestamp with time zone) RETURNS TABLE(id uuid, endpoint_id uuid, slot_at timestamp with time zone, source text, status text, attempt integer, is_manual boolean, started_at timestamp with time zone, finished_at timestamp with time zone, status_code integer, error_kind text, error_message text, skipped_slots integer, skipped_reason text)
    LANGUAGE sql STABLE
    AS $$
    SELECT r.id, r.endpoint_id, r.slot_at, r.source, r.status, r.attempt,
           r.is_manual, r.started_at, r.finished_at, r.status_code,
           r.error_kind, r.error_message, r.skipped_slots, r.skipped_reason
    FROM runs AS r
    WHERE r.endpoint_id = of_endpoint AND r.slot_at = at_slot
    LIMIT 1
    $$;

CREATE FUNCTION public.note_ended_runs() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ended WHERE status <> 'running') THEN
        RETURN NULL;  -- a claim, which takes over what others have lost
    END IF;
    INSERT INTO failed_runs (tenant_id, endpoint_id, slot_at, id, source, status, is_manual)
    SELECT tenant_id, endpoint_id, slot_at, id, source, status, is_manual
    FROM ended
    WHERE status NOT IN ('running', 'success')
    ON CONFLICT DO NOTHING;
    INSERT INTO run_counts (tenant_id, since, status, runs, part)
    SELECT tenant_id, date_bin('5 minutes', finished_at, 'epoch') AS since, status, count(*),
           pg_backend_pid() % 16
    FROM ended
    WHERE status <> 'running'
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3  -- two that count the same wait for each other, never in a circle
    ON CONFLICT (tenant_id, since, status, part) DO UPDATE
        SET runs = run_counts.runs + excluded.runs;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.run_family(source text, is_manual boolean, plan json) RETURNS text
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

CREATE TABLE public.accounts (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    balance bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL
);

CREATE TABLE public.analysis_sessions (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    job_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    brain text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    duration_ms bigint NOT NULL,
    ended_as text NOT NULL,
    tool_calls jsonb NOT NULL,
    reasoning text NOT NULL,
    confidence double precision,
    tokens bigint DEFAULT 0 NOT NULL,
    cost double precision DEFAULT 0 NOT NULL,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    next_analysis_at timestamp with time zone,
    prompt_version text,
    suggests_until timestamp with time zone,
    acts_until timestamp with time zone,
    refusal text,
    repeats integer DEFAULT 0 NOT NULL,
    last_at timestamp with time zone,
    reason text,
    input_tokens bigint DEFAULT 0 NOT NULL,
    cached_tokens bigint DEFAULT 0 NOT NULL,
    output_tokens bigint DEFAULT 0 NOT NULL,
    account_id uuid,
    CONSTRAINT analysis_sessions_repeats_check CHECK ((repeats >= 0))
);

CREATE TABLE public.announcements (
    route_id uuid NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    tenant_id uuid NOT NULL,
    incident_id uuid NOT NULL,
    told jsonb DEFAULT '{}'::jsonb NOT NULL,
    told_state text,
    due_at timestamp with time zone,
    not_before_at timestamp with time zone,
    changed_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL
);

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    job_ids uuid[],
    expiry_notice_at timestamp with time zone,
    expiry_told_at timestamp with time zone,
    CONSTRAINT a_key_is_hashed CHECK ((octet_length(hash) = 32)),
    CONSTRAINT a_key_may_do_something CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['read'::text, 'operate'::text, 'admin'::text])))
);

CREATE TABLE public.asked_runs (
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    slot_at timestamp with time zone NOT NULL,
    user_id uuid NOT NULL
);

CREATE TABLE public.audit_log (
    id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE public.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.awaited_results (
    run_id uuid NOT NULL,
    attempt integer NOT NULL,
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    closed_at timestamp with time zone,
    reported_at timestamp with time zone,
    status text,
    message text,
    body json,
    CONSTRAINT a_report_says_how_it_went CHECK (((reported_at IS NULL) = (status IS NULL))),
    CONSTRAINT awaited_results_status_check CHECK ((status = ANY (ARRAY['success'::text, 'failure'::text])))
);

CREATE TABLE public.charges (
    reference text NOT NULL,
    tenant_id uuid NOT NULL,
    account_id uuid NOT NULL,
    run_id uuid NOT NULL,
    schedule_id uuid,
    graph_id text,
    model text NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_tokens bigint DEFAULT 0 NOT NULL,
    cache_write_tokens bigint DEFAULT 0 NOT NULL,
    credits bigint NOT NULL,
    basis text NOT NULL,
    at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    job_id uuid,
    endpoint_id uuid,
    CONSTRAINT charges_basis_check CHECK ((basis = ANY (ARRAY['counted'::text, 'estimated'::text]))),
    CONSTRAINT charges_cache_read_tokens_check CHECK ((cache_read_tokens >= 0)),
    CONSTRAINT charges_cache_write_tokens_check CHECK ((cache_write_tokens >= 0)),
    CONSTRAINT charges_credits_check CHECK ((credits >= 0)),
    CONSTRAINT charges_input_tokens_check CHECK ((input_tokens >= 0)),
    CONSTRAINT charges_output_tokens_check CHECK ((output_tokens >= 0))
);

CREATE TABLE public.deliveries (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    channel_id uuid,
    subscription_id uuid,
    title text NOT NULL,
    payload json NOT NULL,
    status text DEFAULT 'waiting'::text NOT NULL,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone,
    leased_by text,
    error text,
    status_code integer,
    finished_at timestamp with time zone,
    CONSTRAINT deliveries_kind_check CHECK ((kind = ANY (ARRAY['notification'::text, 'event'::text, 'test'::text]))),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'delivered'::text, 'failed'::text]))),
    CONSTRAINT it_goes_to_one CHECK ((num_nonnulls(channel_id, subscription_id) = 1))
);

CREATE TABLE public.jobs (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    paused_until timestamp with time zone,
    archived_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    rules jsonb DEFAULT '[]'::jsonb NOT NULL,
    planner_mode text,
    probe_budget double precision DEFAULT 1 NOT NULL,
    planner jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT jobs_planner_check CHECK ((jsonb_typeof(planner) = 'object'::text)),
    CONSTRAINT jobs_planner_mode_check CHECK ((planner_mode = ANY (ARRAY['off'::text, 'advise'::text, 'act'::text]))),
    CONSTRAINT jobs_planner_modes_check CHECK (((COALESCE((planner ->> 'rules'::text), 'off'::text) = ANY (ARRAY['off'::text, 'advise'::text, 'act'::text])) AND (COALESCE((planner ->> 'detectors'::text), 'off'::text) = ANY (ARRAY['off'::text, 'advise'::text, 'act'::text])) AND (COALESCE((planner ->> 'llm'::text), 'off'::text) = ANY (ARRAY['off'::text, 'advise'::text, 'act'::text])))),
    CONSTRAINT jobs_probe_budget_check CHECK (((probe_budget >= (0.1)::double precision) AND (probe_budget <= (100)::double precision)))
);

CREATE VIEW public.endpoint_states AS
 SELECT id,
    tenant_id,
    job_id,
    name,
    created_at,
    archived_at,
    baseline_interval_ms,
    baseline_cron,
    timezone,
    min_interval_ms,
    max_interval_ms,
    hint_interval_ms,
    hint_interval_expires_at,
    hint_interval_author,
    hint_interval_reason,
    hint_interval_session_id,
    hint_interval_user_id,
    hint_interval_brain,
    hint_interval_rule_id,
    hint_run_at,
    hint_run_expires_at,
    hint_run_author,
    hint_run_reason,
    hint_run_session_id,
    hint_run_user_id,
    hint_run_brain,
    hint_run_rule_id,
    person_paused_until,
    person_pause_reason,
    person_pause_user_id,
    planner_paused_until,
    planner_pause_reason,
    planner_pause_session_id,
    planner_pause_brain,
    planner_pause_rule_id,
    job_paused_until,
    planner_changes,
    failure_count,
    not_before_at,
    last_run_at,
    last_slot_at,
    next_run_at,
    next_source,
    plan,
    running_slot_at,
    running_is_manual,
    manual_slot_at,
    target,
    secret_headers,
    revision,
    ( SELECT job.name
           FROM public.jobs job
          WHERE (job.id = e.job_id)) AS job_name,
    person_ran_at,
    backs_off,
        CASE
            WHEN (failure_count > 0) THEN streak_changed_at
            ELSE NULL::timestamp with time zone
        END AS failing_since
   FROM public.endpoints e;

CREATE TABLE public.event_subscriptions (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    kinds text[] NOT NULL,
    job_id uuid,
    enabled boolean DEFAULT true NOT NULL,
    disabled_reason text,
    failing_since timestamp with time zone,
    last_error text,
    last_sent_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    CONSTRAINT event_subscriptions_kinds_check CHECK ((cardinality(kinds) > 0))
);

CREATE TABLE public.events (
    id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    kind text NOT NULL,
    endpoint_id uuid,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    job_id uuid,
    xact xid8 DEFAULT pg_current_xact_id() NOT NULL
);

ALTER TABLE public.events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.execution_grants (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    account_id uuid NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    schedule_id uuid,
    expiry_notice_at timestamp with time zone,
    expiry_told_at timestamp with time zone,
    endpoint_id uuid,
    CONSTRAINT execution_grants_scopes_check CHECK ((cardinality(scopes) > 0))
);

CREATE TABLE public.failed_runs (
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    slot_at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    source text NOT NULL,
    status text NOT NULL,
    is_manual boolean NOT NULL,
    CONSTRAINT failed_runs_status_check CHECK ((status = ANY (ARRAY['failure'::text, 'timeout'::text, 'cancelled'::text])))
);

CREATE TABLE public.grant_uses (
    grant_id uuid NOT NULL,
    run_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    graph_id text NOT NULL,
    refusal text
);

CREATE TABLE public.idempotency_keys (
    tenant_id uuid NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    created_id uuid NOT NULL,
    at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL
);

CREATE TABLE public.notification_channels (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    service text NOT NULL,
    shown text NOT NULL,
    sealed text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    failing_since timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    last_error text,
    last_sent_at timestamp with time zone
);

CREATE TABLE public.tenants (
    id uuid NOT NULL,
    name text NOT NULL,
    retention_days integer,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    watched_until timestamp with time zone,
    rules_mode text DEFAULT 'act'::text NOT NULL,
    llm_mode text DEFAULT 'advise'::text NOT NULL,
    detectors_mode text DEFAULT 'act'::text NOT NULL,
    planner_account_id uuid,
    CONSTRAINT tenants_detectors_mode_check CHECK ((detectors_mode = ANY (ARRAY['off'::text, 'advise'::text, 'act'::text]))),
    CONSTRAINT tenants_llm_mode_check CHECK ((llm_mode = ANY (ARRAY['off'::text, 'advise'::text, 'act'::text]))),
    CONSTRAINT tenants_retention_days_check CHECK (((retention_days >= 1) AND (retention_days <= 3650))),
    CONSTRAINT tenants_rules_mode_check CHECK ((rules_mode = ANY (ARRAY['off'::text, 'advise'::text, 'act'::text])))
);

CREATE TABLE public.workers (
    name text NOT NULL,
    kind text NOT NULL,
    started_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    seen_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    labels text[] DEFAULT '{}'::text[] NOT NULL,
    version text DEFAULT ''::text NOT NULL,
    in_flight integer,
    capacity integer
);

CREATE VIEW public.incident_conditions AS
 SELECT e.tenant_id,
    'failing'::text AS kind,
    (e.id)::text AS subject,
    e.job_id,
    e.id AS endpoint_id,
    ((( SELECT job.name
           FROM public.jobs job
          WHERE (job.id = e.job_id)) || '/'::text) || e.name) AS name,
    COALESCE(e.streak_changed_at, e.last_failed_at, e.created_at) AS since,
    e.failure_count AS measure,
    ''::text AS detail
   FROM public.endpoints e
  WHERE ((e.failure_count > 0) AND (e.archived_at IS NULL))
UNION ALL
 SELECT e.tenant_id,
    'late'::text AS kind,
    (e.id)::text AS subject,
    e.job_id,
    e.id AS endpoint_id,
    ((( SELECT job.name
           FROM public.jobs job
          WHERE (job.id = e.job_id)) || '/'::text) || e.name) AS name,
    e.next_run_at AS since,
    1 AS measure,
    ''::text AS detail
   FROM (public.tenants t
     JOIN public.endpoints e ON ((e.tenant_id = t.id)))
  WHERE ((e.next_run_at < (( SELECT public.cadenza_now() AS cadenza_now) - '00:01:00'::interval)) AND (e.running_slot_at IS NULL) AND (e.archived_at IS NULL))
UNION ALL
 SELECT e.tenant_id,
    'planner-pause'::text AS kind,
    (e.id)::text AS subject,
    e.job_id,
    e.id AS endpoint_id,
    ((( SELECT job.name
           FROM public.jobs job
          WHERE (job.id = e.job_id)) || '/'::text) || e.name) AS name,
    COALESCE(e.steered_at, e.created_at) AS since,
    1 AS measure,
    COALESCE(e.planner_pause_reason, ''::text) AS detail
   FROM public.endpoints e
  WHERE ((e.planner_paused_until IS NOT NULL) AND (e.planner_paused_until > ( SELECT public.cadenza_now() AS cadenza_now)) AND (e.archived_at IS NULL))
UNION ALL
 SELECT e.tenant_id,
    'suggestion'::text AS kind,
    (e.id)::text AS subject,
    e.job_id,
    e.id AS endpoint_id,
    ((( SELECT job.name
           FROM public.jobs job
          WHERE (job.id = e.job_id)) || '/'::text) || e.name) AS name,
    waiting.since,
    1 AS measure,
    ''::text AS detail
   FROM (( SELECT s.endpoint_id,
            min(s.started_at) AS since
           FROM public.analysis_sessions s
          WHERE ((s.suggests_until > ( SELECT public.cadenza_now() AS cadenza_now)) AND (EXISTS ( SELECT
                   FROM jsonb_array_elements(s.tool_calls) call(value)
                  WHERE public.can_be_accepted(call.value, ( SELECT public.cadenza_now() AS cadenza_now)))))
          GROUP BY s.endpoint_id) waiting
     JOIN public.endpoints e ON ((e.id = waiting.endpoint_id)))
  WHERE (e.archived_at IS NULL)
UNION ALL
 SELECT g.tenant_id,
    'grant-expiring'::text AS kind,
    (g.id)::text AS subject,
    NULL::uuid AS job_id,
    g.endpoint_id,
    array_to_string(g.scopes, ', '::text) AS name,
    g.expiry_notice_at AS since,
        CASE
            WHEN (g.expires_at <= ( SELECT public.cadenza_now() AS cadenza_now)) THEN 2
            ELSE 1
        END AS measure,
    ''::text AS detail
   FROM public.execution_grants g
  WHERE ((g.expiry_notice_at <= ( SELECT public.cadenza_now() AS cadenza_now)) AND (g.revoked_at IS NULL) AND (g.expires_at > (( SELECT public.cadenza_now() AS cadenza_now) - '7 days'::interval)))
UNION ALL
 SELECT ( SELECT t.id
           FROM public.tenants t
          ORDER BY t.created_at, t.id
         LIMIT 1) AS tenant_id,
    'worker-lost'::text AS kind,
    w.name AS subject,
    NULL::uuid AS job_id,
    NULL::uuid AS endpoint_id,
    ((w.kind || ' '::text) || w.name) AS name,
    w.seen_at AS since,
    1 AS measure,
    ''::text AS detail
   FROM public.workers w
  WHERE ((w.seen_at < (( SELECT public.cadenza_now() AS cadenza_now) - '00:00:30'::interval)) AND (EXISTS ( SELECT
           FROM public.tenants)) AND (NOT (EXISTS ( SELECT
           FROM public.workers other
          WHERE ((other.kind = w.kind) AND (other.started_at > w.seen_at) AND (other.seen_at > (( SELECT public.cadenza_now() AS cadenza_now) - '00:00:15'::interval)))))))
UNION ALL
 SELECT c.tenant_id,
    'channel-failing'::text AS kind,
    (c.id)::text AS subject,
    NULL::uuid AS job_id,
    NULL::uuid AS endpoint_id,
    c.name,
    c.failing_since AS since,
    1 AS measure,
    COALESCE(c.last_error, ''::text) AS detail
   FROM public.notification_channels c
  WHERE ((c.failing_since < (( SELECT public.cadenza_now() AS cadenza_now) - '00:05:00'::interval)) AND c.enabled)
UNION ALL
 SELECT s.tenant_id,
    'webhook-disabled'::text AS kind,
    (s.id)::text AS subject,
    NULL::uuid AS job_id,
    NULL::uuid AS endpoint_id,
    s.name,
    COALESCE(s.failing_since, s.created_at) AS since,
    1 AS measure,
    s.disabled_reason AS detail
   FROM public.event_subscriptions s
  WHERE (s.disabled_reason IS NOT NULL)
UNION ALL
 SELECT k.tenant_id,
    'key-expiring'::text AS kind,
    (k.id)::text AS subject,
    NULL::uuid AS job_id,
    NULL::uuid AS endpoint_id,
    k.name,
    k.expiry_notice_at AS since,
        CASE
            WHEN (k.expires_at <= ( SELECT public.cadenza_now() AS cadenza_now)) THEN 2
            ELSE 1
        END AS measure,
    ''::text AS detail
   FROM public.api_keys k
  WHERE ((k.expires_at > (( SELECT public.cadenza_now() AS cadenza_now) - '7 days'::interval)) AND (k.expires_at <= (( SELECT public.cadenza_now() AS cadenza_now) + '7 days'::interval)) AND (k.expiry_notice_at <= ( SELECT public.cadenza_now() AS cadenza_now)) AND (k.revoked_at IS NULL) AND (NOT (EXISTS ( SELECT
           FROM public.api_keys other
          WHERE ((other.tenant_id = k.tenant_id) AND (other.user_id = k.user_id) AND (other.name = k.name) AND (other.created_at > k.created_at) AND (other.revoked_at IS NULL) AND ((other.expires_at IS NULL) OR (other.expires_at > k.expires_at)))))));

CREATE TABLE public.incidents (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    job_id uuid,
    endpoint_id uuid,
    level integer NOT NULL,
    severity text NOT NULL,
    measure integer NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    times integer DEFAULT 1 NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone,
    acknowledged_at timestamp with time zone,
    acknowledged_by text,
    resolved_at timestamp with time zone,
    resolved_by text,
    CONSTRAINT incidents_level_check CHECK ((level > 0)),
    CONSTRAINT incidents_severity_check CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'error'::text, 'critical'::text]))),
    CONSTRAINT who_resolved_it_is_known CHECK (((resolved_at IS NULL) = (resolved_by IS NULL)))
);

CREATE TABLE public.invitations (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    email text NOT NULL,
    role text,
    job_roles jsonb DEFAULT '{}'::jsonb NOT NULL,
    hash bytea NOT NULL,
    invited_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'owner'::text])))
);

CREATE TABLE public.job_quotas (
    tenant_id uuid NOT NULL,
    job_id uuid NOT NULL,
    day text NOT NULL,
    token_limit bigint,
    used bigint DEFAULT 0 NOT NULL,
    reserved bigint DEFAULT 0 NOT NULL,
    cost_limit double precision,
    cost_used double precision DEFAULT 0 NOT NULL,
    cost_reserved double precision DEFAULT 0 NOT NULL,
    refused_at timestamp with time zone,
    begun_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    CONSTRAINT job_quotas_cost_reserved_check CHECK ((cost_reserved >= (0)::double precision)),
    CONSTRAINT job_quotas_cost_used_check CHECK ((cost_used >= (0)::double precision)),
    CONSTRAINT job_quotas_day_check CHECK ((day ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'::text)),
    CONSTRAINT job_quotas_reserved_check CHECK ((reserved >= 0)),
    CONSTRAINT job_quotas_used_check CHECK ((used >= 0))
);

CREATE TABLE public.job_roles (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    job_id uuid NOT NULL,
    role text NOT NULL,
    CONSTRAINT job_roles_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'owner'::text])))
);

CREATE TABLE public.late_results (
    id bigint NOT NULL,
    run_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    epoch bigint NOT NULL,
    status text NOT NULL,
    received_at timestamp with time zone NOT NULL
);

ALTER TABLE public.late_results ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.late_results_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.ledger (
    id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    account_id uuid NOT NULL,
    at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    credits bigint NOT NULL,
    balance bigint NOT NULL,
    reason text NOT NULL,
    reference text NOT NULL
);

ALTER TABLE public.ledger ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ledger_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW public.listed_endpoints AS
 SELECT id,
    tenant_id,
    job_id,
    ( SELECT job.name
           FROM public.jobs job
          WHERE (job.id = e.job_id)) AS job_name,
    name,
    created_at,
    archived_at,
    revision,
    target,
    secret_headers,
    baseline_interval_ms,
    baseline_cron,
    timezone,
    min_interval_ms,
    max_interval_ms,
    hint_interval_ms,
    hint_interval_expires_at,
    hint_interval_author,
    hint_interval_reason,
    hint_interval_session_id,
    hint_interval_user_id,
    hint_interval_brain,
    hint_interval_rule_id,
    hint_run_at,
    hint_run_expires_at,
    hint_run_author,
    hint_run_reason,
    hint_run_session_id,
    hint_run_user_id,
    hint_run_brain,
    hint_run_rule_id,
    person_paused_until,
    person_pause_reason,
    person_pause_user_id,
    planner_paused_until,
    planner_pause_reason,
    planner_pause_session_id,
    planner_pause_brain,
    planner_pause_rule_id,
    job_paused_until,
    GREATEST(person_paused_until, planner_paused_until, job_paused_until) AS paused_until,
    planner_changes,
    failure_count,
    not_before_at,
    last_run_at,
    last_slot_at,
    next_run_at,
    next_source,
    NULL::json AS plan,
    running_slot_at,
    running_is_manual,
    manual_slot_at,
    person_ran_at,
    backs_off,
        CASE
            WHEN (failure_count > 0) THEN streak_changed_at
            ELSE NULL::timestamp with time zone
        END AS failing_since
   FROM public.endpoints e;

CREATE TABLE public.schedule_runs (
    schedule_id uuid NOT NULL,
    slot_at timestamp with time zone NOT NULL,
    id uuid,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    status text DEFAULT 'scheduled'::text NOT NULL,
    is_manual boolean DEFAULT false NOT NULL,
    concurrency text DEFAULT 'forbid'::text NOT NULL,
    requires text[] DEFAULT '{}'::text[] NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone,
    leased_by text,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    output jsonb,
    error_code text,
    error_message text,
    last_lines text DEFAULT ''::text NOT NULL,
    reason text,
    skipped_slots integer DEFAULT 0 NOT NULL,
    question jsonb,
    state bytea,
    answer jsonb,
    answer_to uuid,
    answered_at timestamp with time zone,
    CONSTRAINT schedule_runs_status_check CHECK ((status = ANY (ARRAY['scheduled'::text, 'running'::text, 'success'::text, 'error'::text, 'skipped'::text, 'cancelled'::text, 'waiting'::text])))
)
WITH (fillfactor='80');

CREATE TABLE public.schedules (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    grant_id uuid NOT NULL,
    name text,
    graph_id text NOT NULL,
    input jsonb NOT NULL,
    cron text NOT NULL,
    timezone text NOT NULL,
    concurrency text NOT NULL,
    limits jsonb NOT NULL,
    requires text[] DEFAULT '{}'::text[] NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    updated_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    deleted_at timestamp with time zone,
    last_run_at timestamp with time zone,
    last_ended_at timestamp with time zone,
    CONSTRAINT schedules_concurrency_check CHECK ((concurrency = ANY (ARRAY['forbid'::text, 'allow'::text, 'replace'::text])))
);

CREATE VIEW public.listed_schedules AS
 SELECT s.id,
    s.tenant_id,
    s.user_id,
    s.grant_id,
    s.name,
    s.graph_id,
    s.input,
    s.cron,
    s.timezone,
    s.concurrency,
    s.limits,
    s.requires,
    s.enabled,
    s.revision,
    s.created_at,
    s.updated_at,
    s.deleted_at,
    s.last_run_at,
    s.last_ended_at,
    waiting.slot_at AS next_run_at
   FROM (public.schedules s
     LEFT JOIN public.schedule_runs waiting ON (((waiting.schedule_id = s.id) AND (waiting.status = 'scheduled'::text) AND (NOT waiting.is_manual))));

CREATE TABLE public.looks (
    endpoint_id uuid NOT NULL,
    brain text NOT NULL,
    looked_at timestamp with time zone,
    next_analysis_at timestamp with time zone,
    reasoning text DEFAULT ''::text NOT NULL,
    idle_looks bigint DEFAULT 0 NOT NULL,
    fired jsonb DEFAULT '{}'::jsonb NOT NULL,
    leased_until timestamp with time zone,
    leased_by text,
    streak_looked_at timestamp with time zone,
    failed_looks integer DEFAULT 0 NOT NULL,
    trouble text DEFAULT ''::text NOT NULL,
    memory jsonb,
    CONSTRAINT a_look_under_way_has_a_planner CHECK (((leased_until IS NULL) = (leased_by IS NULL))),
    CONSTRAINT looks_failed_looks_check CHECK ((failed_looks >= 0))
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE public.notification_routes (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    channel_id uuid NOT NULL,
    job_id uuid,
    kinds text[] DEFAULT '{}'::text[] NOT NULL,
    min_severity text NOT NULL,
    quiet_from time without time zone,
    quiet_to time without time zone,
    quiet_timezone text,
    critical_passes boolean DEFAULT false NOT NULL,
    group_ms bigint NOT NULL,
    cooldown_ms bigint NOT NULL,
    tells_recovery boolean DEFAULT true NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    CONSTRAINT quiet_hours_are_whole CHECK ((num_nulls(quiet_from, quiet_to, quiet_timezone) = ANY (ARRAY[0, 3])))
);

CREATE TABLE public.notifier_position (
    one boolean DEFAULT true NOT NULL,
    xact xid8 NOT NULL,
    id bigint NOT NULL,
    CONSTRAINT notifier_position_one_check CHECK (one)
);

CREATE TABLE public.planner_stops (
    tenant_id uuid NOT NULL,
    stopped_at timestamp with time zone NOT NULL,
    stopped_by uuid,
    reason text DEFAULT ''::text NOT NULL,
    modes json NOT NULL,
    jobs json NOT NULL
);

CREATE TABLE public.quota_reservations (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    month text NOT NULL,
    tokens bigint NOT NULL,
    cost double precision DEFAULT 0 NOT NULL,
    reserved_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    job_id uuid,
    day text,
    CONSTRAINT quota_reservations_cost_check CHECK ((cost >= (0)::double precision)),
    CONSTRAINT quota_reservations_tokens_check CHECK ((tokens >= 0))
);

CREATE TABLE public.quotas (
    tenant_id uuid NOT NULL,
    month text NOT NULL,
    token_limit bigint,
    used bigint DEFAULT 0 NOT NULL,
    reserved bigint DEFAULT 0 NOT NULL,
    cost_limit double precision,
    cost_used double precision DEFAULT 0 NOT NULL,
    cost_reserved double precision DEFAULT 0 NOT NULL,
    refused_at timestamp with time zone,
    CONSTRAINT quotas_cost_reserved_check CHECK ((cost_reserved >= (0)::double precision)),
    CONSTRAINT quotas_cost_used_check CHECK ((cost_used >= (0)::double precision)),
    CONSTRAINT quotas_month_check CHECK ((month ~ '^[0-9]{4}-[0-9]{2}$'::text)),
    CONSTRAINT quotas_reserved_check CHECK ((reserved >= 0)),
    CONSTRAINT quotas_used_check CHECK ((used >= 0))
);

CREATE TABLE public.run_attempts (
    run_id uuid NOT NULL,
    attempt integer NOT NULL,
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    slot_at timestamp with time zone NOT NULL,
    noted_at timestamp with time zone NOT NULL
);

CREATE TABLE public.run_counts (
    tenant_id uuid NOT NULL,
    since timestamp with time zone NOT NULL,
    status text NOT NULL,
    runs bigint NOT NULL,
    part smallint DEFAULT 0 NOT NULL,
    CONSTRAINT run_counts_runs_check CHECK ((runs > 0))
)
WITH (fillfactor='50');

CREATE TABLE public.runs (
    id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    slot_at timestamp with time zone NOT NULL,
    source text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL,
    epoch bigint NOT NULL,
    is_manual boolean DEFAULT false NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    status_code integer,
    error_kind text,
    error_message text,
    body json,
    plan json,
    skipped_slots integer DEFAULT 0 NOT NULL,
    skipped_reason text,
    CONSTRAINT runs_attempt_check CHECK ((attempt > 0)),
    CONSTRAINT runs_epoch_check CHECK ((epoch > 0)),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'success'::text, 'failure'::text, 'timeout'::text, 'cancelled'::text]))),
    CONSTRAINT what_has_ended_says_when CHECK (((status = 'running'::text) = (finished_at IS NULL)))
)
PARTITION BY RANGE (slot_at);

CREATE TABLE public.runs_default (
    id uuid CONSTRAINT runs_id_not_null NOT NULL,
    endpoint_id uuid CONSTRAINT runs_endpoint_id_not_null NOT NULL,
    tenant_id uuid CONSTRAINT runs_tenant_id_not_null NOT NULL,
    slot_at timestamp with time zone CONSTRAINT runs_slot_at_not_null NOT NULL,
    source text CONSTRAINT runs_source_not_null NOT NULL,
    status text CONSTRAINT runs_status_not_null NOT NULL,
    attempt integer CONSTRAINT runs_attempt_not_null NOT NULL,
    epoch bigint CONSTRAINT runs_epoch_not_null NOT NULL,
    is_manual boolean DEFAULT false CONSTRAINT runs_is_manual_not_null NOT NULL,
    claimed_at timestamp with time zone CONSTRAINT runs_claimed_at_not_null NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    status_code integer,
    error_kind text,
    error_message text,
    body json,
    plan json,
    skipped_slots integer DEFAULT 0 CONSTRAINT runs_skipped_slots_not_null NOT NULL,
    skipped_reason text,
    CONSTRAINT runs_attempt_check CHECK ((attempt > 0)),
    CONSTRAINT runs_epoch_check CHECK ((epoch > 0)),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'success'::text, 'failure'::text, 'timeout'::text, 'cancelled'::text]))),
    CONSTRAINT what_has_ended_says_when CHECK (((status = 'running'::text) = (finished_at IS NULL)))
);

CREATE TABLE public.schedule_run_events (
    run_id uuid NOT NULL,
    number integer NOT NULL,
    tenant_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    data jsonb NOT NULL
);

CREATE TABLE public.schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.sign_in_links (
    hash bytea NOT NULL,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    key_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.sign_ins (
    hash bytea NOT NULL,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    key_id uuid,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL
);

CREATE TABLE public.signing_keys (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    secret text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    retires_at timestamp with time zone,
    CONSTRAINT a_key_ends_after_it_began CHECK ((retires_at >= created_at)),
    CONSTRAINT a_signing_key_is_sealed CHECK ((secret ~ '^v[0-9]+:'::text))
);

CREATE TABLE public.steering_history (
    id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    kind text NOT NULL,
    begun_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    until_at timestamp with time zone NOT NULL,
    planned_until_at timestamp with time zone,
    ended_as text,
    ended_by text,
    ended_by_user_id uuid,
    ended_by_session_id uuid,
    interval_ms bigint,
    run_at timestamp with time zone,
    tightens boolean,
    author text NOT NULL,
    user_id uuid,
    brain text,
    rule_id uuid,
    session_id uuid,
    reason text DEFAULT ''::text NOT NULL,
    renewals integer DEFAULT 0 NOT NULL,
    CONSTRAINT an_interval_has_a_length CHECK (((kind = 'interval'::text) = (interval_ms IS NOT NULL))),
    CONSTRAINT one_run_has_an_instant CHECK (((kind = 'once'::text) = (run_at IS NOT NULL))),
    CONSTRAINT steering_history_author_check CHECK ((author = ANY (ARRAY['person'::text, 'planner'::text]))),
    CONSTRAINT steering_history_ended_as_check CHECK ((ended_as = ANY (ARRAY['cleared'::text, 'replaced'::text]))),
    CONSTRAINT steering_history_ended_by_check CHECK ((ended_by = ANY (ARRAY['person'::text, 'planner'::text]))),
    CONSTRAINT steering_history_kind_check CHECK ((kind = ANY (ARRAY['interval'::text, 'once'::text, 'person-pause'::text, 'planner-pause'::text, 'job-pause'::text]))),
    CONSTRAINT what_was_ended_says_how CHECK ((num_nulls(planned_until_at, ended_as, ended_by) = ANY (ARRAY[0, 3])))
);

ALTER TABLE public.steering_history ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.steering_history_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW public.stored_jobs AS
 SELECT id,
    tenant_id,
    name,
    description,
    paused_until,
    archived_at,
    created_at,
    revision,
    rules,
    planner_mode,
    probe_budget,
    ( SELECT count(*) AS count
           FROM public.endpoints e
          WHERE ((e.job_id = j.id) AND (e.archived_at IS NULL))) AS endpoint_count,
    planner
   FROM public.jobs j;

CREATE VIEW public.stored_slots AS
 SELECT schedule_id,
    slot_at,
    id,
    tenant_id,
    user_id,
    status,
    is_manual,
    concurrency,
    requires,
    attempt,
    epoch,
    lease_until,
    leased_by,
    started_at,
    finished_at,
    output,
    error_code,
    error_message,
    last_lines,
    reason,
    skipped_slots,
    question,
    state,
    answer,
    answer_to,
    answered_at
   FROM public.schedule_runs;

CREATE TABLE public.users (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    role text DEFAULT 'owner'::text,
    email text,
    identity_issuer text,
    identity_subject text,
    CONSTRAINT users_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'owner'::text])))
);

CREATE TABLE public.virtual_keys (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    api text NOT NULL,
    base_url text NOT NULL,
    hint text DEFAULT ''::text NOT NULL,
    sealed text,
    is_default boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT public.cadenza_now() NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT a_revoked_key_is_gone CHECK (((sealed IS NULL) = (revoked_at IS NOT NULL))),
    CONSTRAINT a_virtual_key_is_sealed CHECK ((sealed ~ '^v[0-9]+:'::text)),
    CONSTRAINT virtual_keys_api_check CHECK ((api = ANY (ARRAY['openai'::text, 'anthropic'::text])))
);

CREATE TABLE public.worker_graphs (
    worker text NOT NULL,
    graph_id text NOT NULL COLLATE pg_catalog."C",
    problem text,
    input_schema jsonb
);

ALTER TABLE ONLY public.runs ATTACH PARTITION public.runs_default DEFAULT;

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.analysis_sessions
    ADD CONSTRAINT analysis_sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT announcements_pkey PRIMARY KEY (route_id, kind, subject);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.asked_runs
    ADD CONSTRAINT asked_runs_pkey PRIMARY KEY (endpoint_id, slot_at);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.awaited_results
    ADD CONSTRAINT awaited_results_pkey PRIMARY KEY (run_id, attempt);

ALTER TABLE ONLY public.charges
    ADD CONSTRAINT charges_pkey PRIMARY KEY (reference);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.endpoints
    ADD CONSTRAINT endpoints_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.event_subscriptions
    ADD CONSTRAINT event_subscriptions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.event_subscriptions
    ADD CONSTRAINT event_subscriptions_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.execution_grants
    ADD CONSTRAINT execution_grants_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.failed_runs
    ADD CONSTRAINT failed_runs_pkey PRIMARY KEY (tenant_id, endpoint_id, slot_at);

ALTER TABLE ONLY public.grant_uses
    ADD CONSTRAINT grant_uses_pkey PRIMARY KEY (grant_id, run_id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, key);

ALTER TABLE ONLY public.incidents
    ADD CONSTRAINT incidents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.job_quotas
    ADD CONSTRAINT job_quotas_pkey PRIMARY KEY (job_id, day);

ALTER TABLE ONLY public.job_roles
    ADD CONSTRAINT job_roles_pkey PRIMARY KEY (user_id, job_id);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_of_one_tenant UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.late_results
    ADD CONSTRAINT late_results_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.ledger
    ADD CONSTRAINT ledger_account_id_reference_key UNIQUE (account_id, reference);

ALTER TABLE ONLY public.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.looks
    ADD CONSTRAINT looks_pkey PRIMARY KEY (endpoint_id, brain);

ALTER TABLE ONLY public.notification_channels
    ADD CONSTRAINT notification_channels_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.notification_channels
    ADD CONSTRAINT notification_channels_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.notification_routes
    ADD CONSTRAINT notification_routes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.notifier_position
    ADD CONSTRAINT notifier_position_pkey PRIMARY KEY (one);

ALTER TABLE ONLY public.planner_stops
    ADD CONSTRAINT planner_stops_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.quota_reservations
    ADD CONSTRAINT quota_reservations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_pkey PRIMARY KEY (tenant_id, month);

ALTER TABLE ONLY public.run_attempts
    ADD CONSTRAINT run_attempts_pkey PRIMARY KEY (run_id, attempt);

ALTER TABLE ONLY public.run_counts
    ADD CONSTRAINT run_counts_pkey PRIMARY KEY (tenant_id, since, status, part);

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (endpoint_id, slot_at);

ALTER TABLE ONLY public.runs_default
    ADD CONSTRAINT runs_default_pkey PRIMARY KEY (endpoint_id, slot_at);

ALTER TABLE ONLY public.schedule_run_events
    ADD CONSTRAINT schedule_run_events_pkey PRIMARY KEY (run_id, number);

ALTER TABLE ONLY public.schedule_runs
    ADD CONSTRAINT schedule_runs_id_key UNIQUE (id);

ALTER TABLE ONLY public.schedule_runs
    ADD CONSTRAINT schedule_runs_pkey PRIMARY KEY (schedule_id, slot_at);

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);

ALTER TABLE public.endpoints
    ADD CONSTRAINT secret_headers_are_sealed CHECK (((jsonb_typeof(secret_headers) = 'object'::text) AND (NOT jsonb_path_exists(secret_headers, '$.*?(@.type() != "string" || !(@ like_regex "^v[0-9]+:"))'::jsonpath)))) NOT VALID;

ALTER TABLE ONLY public.sign_in_links
    ADD CONSTRAINT sign_in_links_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.sign_ins
    ADD CONSTRAINT sign_ins_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.steering_history
    ADD CONSTRAINT steering_history_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.virtual_keys
    ADD CONSTRAINT virtual_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.worker_graphs
    ADD CONSTRAINT worker_graphs_pkey PRIMARY KEY (worker, graph_id);

ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (name);

CREATE INDEX announcements_by_age ON public.announcements USING btree (changed_at);

CREATE INDEX announcements_due ON public.announcements USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX announcements_of_incident ON public.announcements USING btree (incident_id);

CREATE INDEX api_keys_by_end ON public.api_keys USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND (revoked_at IS NULL));

CREATE INDEX api_keys_of_tenant ON public.api_keys USING btree (tenant_id, created_at);

CREATE INDEX api_keys_of_user ON public.api_keys USING btree (tenant_id, user_id);

CREATE INDEX api_keys_that_expire ON public.api_keys USING btree (expiry_notice_at) WHERE ((expiry_notice_at IS NOT NULL) AND (revoked_at IS NULL) AND (expiry_told_at IS NULL));

CREATE INDEX asked_runs_by_age ON public.asked_runs USING btree (slot_at);

CREATE INDEX audit_by_age ON public.audit_log USING btree (at);

CREATE INDEX audit_of_subject ON public.audit_log USING btree (tenant_id, subject, at);

CREATE INDEX audit_of_tenant ON public.audit_log USING btree (tenant_id, at);

CREATE INDEX awaited_results_by_age ON public.awaited_results USING btree (created_at);

CREATE INDEX awaited_results_of_tenant ON public.awaited_results USING btree (tenant_id);

CREATE INDEX channels_that_fail ON public.notification_channels USING btree (failing_since) WHERE (failing_since IS NOT NULL);

CREATE INDEX charges_of_account ON public.charges USING btree (account_id, at);

CREATE INDEX charges_of_run ON public.charges USING btree (run_id);

CREATE INDEX deliveries_by_age ON public.deliveries USING btree (created_at);

CREATE INDEX deliveries_by_receiver ON public.deliveries USING btree (COALESCE(channel_id, subscription_id), due_at) WHERE (status = 'waiting'::text);

CREATE INDEX deliveries_due ON public.deliveries USING btree (due_at) WHERE (status = 'waiting'::text);

CREATE INDEX deliveries_failed ON public.deliveries USING btree (tenant_id, created_at, id) WHERE (status = 'failed'::text);

CREATE INDEX deliveries_of_channel ON public.deliveries USING btree (channel_id, created_at) WHERE (channel_id IS NOT NULL);

CREATE INDEX deliveries_of_subscription ON public.deliveries USING btree (subscription_id, created_at) WHERE (subscription_id IS NOT NULL);

CREATE INDEX deliveries_of_tenant ON public.deliveries USING btree (tenant_id, created_at, id);

CREATE INDEX endpoints_asked ON public.endpoints USING btree (asked_at) WHERE (asked_at IS NOT NULL);

CREATE INDEX endpoints_asked_for_now ON public.endpoints USING btree (manual_slot_at) WHERE (manual_slot_at IS NOT NULL);

CREATE INDEX endpoints_due ON public.endpoints USING btree (runs_on, next_run_at) WHERE (next_run_at IS NOT NULL);

CREATE INDEX endpoints_due_by_tenant ON public.endpoints USING btree (tenant_id, next_run_at) WHERE (next_run_at IS NOT NULL);

CREATE INDEX endpoints_failing ON public.endpoints USING btree (id) WHERE (failure_count > 0);

CREATE INDEX endpoints_finished ON public.endpoints USING btree (last_finished_at);

CREATE INDEX endpoints_held_by_planner ON public.endpoints USING btree (id) WHERE (planner_paused_until IS NOT NULL);

CREATE INDEX endpoints_of_job ON public.endpoints USING btree (job_id, name);

CREATE INDEX endpoints_of_tenant ON public.endpoints USING btree (tenant_id, created_at, id);

CREATE INDEX endpoints_running_by_hand ON public.endpoints USING btree (id) WHERE running_is_manual;

CREATE INDEX events_by_age ON public.events USING btree (at);

CREATE INDEX events_in_order ON public.events USING btree (xact, id);

CREATE INDEX events_of_tenant ON public.events USING btree (tenant_id, xact, id);

CREATE INDEX failed_runs_by_age ON public.failed_runs USING brin (slot_at);

CREATE INDEX failed_runs_of_tenant ON public.failed_runs USING btree (tenant_id, slot_at);

CREATE INDEX grant_uses_of_grant ON public.grant_uses USING btree (grant_id, at);

CREATE INDEX grants_of_account ON public.execution_grants USING btree (account_id);

CREATE INDEX grants_of_endpoint ON public.execution_grants USING btree (endpoint_id) WHERE (endpoint_id IS NOT NULL);

CREATE INDEX grants_of_tenant ON public.execution_grants USING btree (tenant_id, created_at);

CREATE INDEX grants_of_user ON public.execution_grants USING btree (user_id);

CREATE INDEX grants_that_expire ON public.execution_grants USING btree (expiry_notice_at) WHERE ((expiry_notice_at IS NOT NULL) AND (revoked_at IS NULL) AND (expiry_told_at IS NULL));

CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (at);

CREATE INDEX incidents_by_age ON public.incidents USING btree (resolved_at);

CREATE INDEX incidents_of_subject ON public.incidents USING btree (tenant_id, kind, subject, resolved_at);

CREATE INDEX incidents_of_tenant ON public.incidents USING btree (tenant_id, opened_at, id);

CREATE INDEX invitations_of_tenant ON public.invitations USING btree (tenant_id, created_at);

CREATE INDEX job_quotas_by_age ON public.job_quotas USING btree (begun_at);

CREATE INDEX job_roles_of_job ON public.job_roles USING btree (job_id);

CREATE INDEX jobs_of_tenant ON public.jobs USING btree (tenant_id);

CREATE INDEX late_results_by_age ON public.late_results USING btree (received_at);

CREATE INDEX late_results_of_endpoint ON public.late_results USING btree (endpoint_id, id);

CREATE INDEX ledger_of_account ON public.ledger USING btree (account_id, id);

CREATE UNIQUE INDEX one_account_has_a_name ON public.accounts USING btree (tenant_id, name);

CREATE UNIQUE INDEX one_channel_has_a_name ON public.notification_channels USING btree (tenant_id, name);

CREATE UNIQUE INDEX one_endpoint_has_a_name ON public.endpoints USING btree (job_id, name) WHERE (archived_at IS NULL);

CREATE UNIQUE INDEX one_incident_is_open ON public.incidents USING btree (tenant_id, kind, subject) WHERE (resolved_at IS NULL);

CREATE UNIQUE INDEX one_job_has_a_name ON public.jobs USING btree (tenant_id, name) WHERE (archived_at IS NULL);

CREATE UNIQUE INDEX one_run_at_a_time ON public.schedule_runs USING btree (schedule_id) WHERE ((status = 'running'::text) AND (concurrency <> 'allow'::text));

CREATE UNIQUE INDEX one_schedule_has_a_name ON public.schedules USING btree (tenant_id, name) WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX one_signing_key_has_no_end ON public.signing_keys USING btree (tenant_id) WHERE (retires_at IS NULL);

CREATE UNIQUE INDEX one_slot_waits ON public.schedule_runs USING btree (schedule_id) WHERE ((status = 'scheduled'::text) AND (NOT is_manual));

CREATE UNIQUE INDEX one_tenant_has_a_name ON public.tenants USING btree (name);

CREATE UNIQUE INDEX one_user_has_a_name ON public.users USING btree (tenant_id, name);

CREATE UNIQUE INDEX one_user_has_an_email ON public.users USING btree (tenant_id, email) WHERE (email IS NOT NULL);

CREATE UNIQUE INDEX one_user_has_an_identity ON public.users USING btree (identity_issuer, identity_subject, tenant_id) WHERE (identity_subject IS NOT NULL);

CREATE UNIQUE INDEX one_virtual_key_is_default ON public.virtual_keys USING btree (account_id, api) WHERE (is_default AND (revoked_at IS NULL));

CREATE UNIQUE INDEX one_webhook_has_a_name ON public.event_subscriptions USING btree (tenant_id, name);

CREATE INDEX quota_reservations_of_tenant ON public.quota_reservations USING btree (tenant_id, reserved_at);

CREATE INDEX refusals_of_endpoint ON public.analysis_sessions USING btree (endpoint_id, started_at) WHERE (refusal IS NOT NULL);

CREATE INDEX routes_of_channel ON public.notification_routes USING btree (channel_id);

CREATE INDEX routes_of_job ON public.notification_routes USING btree (job_id) WHERE (job_id IS NOT NULL);

CREATE INDEX routes_of_tenant ON public.notification_routes USING btree (tenant_id, created_at);

CREATE INDEX run_attempts_by_age ON public.run_attempts USING btree (noted_at);

CREATE INDEX run_counts_by_age ON public.run_counts USING btree (since);

CREATE INDEX runs_by_id ON ONLY public.runs USING btree (id);

CREATE INDEX runs_default_id_idx ON public.runs_default USING btree (id);

CREATE INDEX runs_of_tenant ON ONLY public.runs USING btree (tenant_id, slot_at);

CREATE INDEX runs_default_tenant_id_slot_at_idx ON public.runs_default USING btree (tenant_id, slot_at);

CREATE INDEX schedule_runs_due ON public.schedule_runs USING btree (slot_at) WHERE (status = 'scheduled'::text);

CREATE INDEX schedule_runs_leased ON public.schedule_runs USING btree (lease_until) WHERE (status = 'running'::text);

CREATE INDEX schedule_runs_of_tenant ON public.schedule_runs USING btree (tenant_id, slot_at);

CREATE INDEX schedule_runs_under_way ON public.schedule_runs USING btree (schedule_id) WHERE (status = 'running'::text);

CREATE INDEX schedules_of_grant ON public.schedules USING btree (grant_id);

CREATE INDEX schedules_of_tenant ON public.schedules USING btree (tenant_id, created_at, id);

CREATE INDEX sessions_by_age ON public.analysis_sessions USING btree (started_at);

CREATE INDEX sessions_of_endpoint ON public.analysis_sessions USING btree (endpoint_id, started_at);

CREATE INDEX sessions_of_job ON public.analysis_sessions USING btree (job_id, started_at);

CREATE INDEX sessions_of_tenant ON public.analysis_sessions USING btree (tenant_id, started_at);

CREATE INDEX sessions_that_suggest ON public.analysis_sessions USING btree (tenant_id, suggests_until) WHERE (suggests_until IS NOT NULL);

CREATE INDEX sign_in_links_by_end ON public.sign_in_links USING btree (expires_at);

CREATE INDEX sign_in_links_of_key ON public.sign_in_links USING btree (key_id);

CREATE INDEX sign_ins_by_end ON public.sign_ins USING btree (expires_at);

CREATE INDEX sign_ins_of_key ON public.sign_ins USING btree (key_id);

CREATE INDEX sign_ins_of_user ON public.sign_ins USING btree (user_id);

CREATE INDEX signing_keys_of_tenant ON public.signing_keys USING btree (tenant_id);

CREATE INDEX steering_by_end ON public.steering_history USING btree (until_at);

CREATE INDEX steering_of_endpoint ON public.steering_history USING btree (endpoint_id, until_at);

CREATE INDEX steering_of_tenant ON public.steering_history USING btree (tenant_id, begun_at, id);

CREATE INDEX suggestions_of_endpoint ON public.analysis_sessions USING btree (endpoint_id, suggests_until) WHERE (suggests_until IS NOT NULL);

CREATE INDEX tenants_watched ON public.tenants USING btree (watched_until) WHERE (watched_until IS NOT NULL);

CREATE INDEX users_by_email ON public.users USING btree (email) WHERE (email IS NOT NULL);

CREATE INDEX virtual_keys_of_account ON public.virtual_keys USING btree (account_id);

CREATE INDEX webhooks_of_job ON public.event_subscriptions USING btree (job_id) WHERE (job_id IS NOT NULL);

CREATE INDEX webhooks_that_fail ON public.event_subscriptions USING btree (id) WHERE (disabled_reason IS NOT NULL);

CREATE INDEX worker_graphs_by_id ON public.worker_graphs USING btree (graph_id);

ALTER INDEX public.runs_by_id ATTACH PARTITION public.runs_default_id_idx;

ALTER INDEX public.runs_pkey ATTACH PARTITION public.runs_default_pkey;

ALTER INDEX public.runs_of_tenant ATTACH PARTITION public.runs_default_tenant_id_slot_at_idx;

CREATE TRIGGER runs_ended AFTER UPDATE ON public.runs REFERENCING NEW TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION public.note_ended_runs();

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.analysis_sessions
    ADD CONSTRAINT analysis_sessions_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.analysis_sessions
    ADD CONSTRAINT analysis_sessions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT announcements_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES public.incidents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT announcements_route_id_fkey FOREIGN KEY (route_id) REFERENCES public.notification_routes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT announcements_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.asked_runs
    ADD CONSTRAINT asked_runs_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.awaited_results
    ADD CONSTRAINT awaited_results_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.charges
    ADD CONSTRAINT charges_tenant_id_account_id_fkey FOREIGN KEY (tenant_id, account_id) REFERENCES public.accounts(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_tenant_id_channel_id_fkey FOREIGN KEY (tenant_id, channel_id) REFERENCES public.notification_channels(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES public.event_subscriptions(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.endpoints
    ADD CONSTRAINT endpoints_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.endpoints
    ADD CONSTRAINT endpoints_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.event_subscriptions
    ADD CONSTRAINT event_subscriptions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.event_subscriptions
    ADD CONSTRAINT event_subscriptions_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES public.jobs(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.execution_grants
    ADD CONSTRAINT execution_grants_tenant_id_account_id_fkey FOREIGN KEY (tenant_id, account_id) REFERENCES public.accounts(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.execution_grants
    ADD CONSTRAINT execution_grants_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.grant_uses
    ADD CONSTRAINT grant_uses_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.execution_grants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.incidents
    ADD CONSTRAINT incidents_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.endpoints
    ADD CONSTRAINT its_job_is_of_its_tenant FOREIGN KEY (tenant_id, job_id) REFERENCES public.jobs(tenant_id, id) ON DELETE CASCADE NOT VALID;

ALTER TABLE ONLY public.job_quotas
    ADD CONSTRAINT job_quotas_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.job_quotas
    ADD CONSTRAINT job_quotas_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.job_roles
    ADD CONSTRAINT job_roles_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES public.jobs(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.job_roles
    ADD CONSTRAINT job_roles_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.ledger
    ADD CONSTRAINT ledger_tenant_id_account_id_fkey FOREIGN KEY (tenant_id, account_id) REFERENCES public.accounts(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.looks
    ADD CONSTRAINT looks_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.notification_channels
    ADD CONSTRAINT notification_channels_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.notification_routes
    ADD CONSTRAINT notification_routes_tenant_id_channel_id_fkey FOREIGN KEY (tenant_id, channel_id) REFERENCES public.notification_channels(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.notification_routes
    ADD CONSTRAINT notification_routes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.notification_routes
    ADD CONSTRAINT notification_routes_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES public.jobs(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.planner_stops
    ADD CONSTRAINT planner_stops_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.quota_reservations
    ADD CONSTRAINT quota_reservations_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.quota_reservations
    ADD CONSTRAINT quota_reservations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.schedule_run_events
    ADD CONSTRAINT schedule_run_events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.schedule_runs
    ADD CONSTRAINT schedule_runs_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES public.schedules(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.execution_grants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sign_in_links
    ADD CONSTRAINT sign_in_links_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sign_in_links
    ADD CONSTRAINT sign_in_links_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sign_in_links
    ADD CONSTRAINT sign_in_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sign_ins
    ADD CONSTRAINT sign_ins_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sign_ins
    ADD CONSTRAINT sign_ins_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sign_ins
    ADD CONSTRAINT sign_ins_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.steering_history
    ADD CONSTRAINT steering_history_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.steering_history
    ADD CONSTRAINT steering_history_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_id_planner_account_id_fkey FOREIGN KEY (id, planner_account_id) REFERENCES public.accounts(tenant_id, id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.virtual_keys
    ADD CONSTRAINT virtual_keys_tenant_id_account_id_fkey FOREIGN KEY (tenant_id, account_id) REFERENCES public.accounts(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.worker_graphs
    ADD CONSTRAINT worker_graphs_worker_fkey FOREIGN KEY (worker) REFERENCES public.workers(name) ON DELETE CASCADE;
