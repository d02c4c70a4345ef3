-- Tenants, jobs, endpoints, runs, and what a planner leaves behind.

-- The one clock. Everything asks here, so that a test can make it stand still.
CREATE FUNCTION cadenza_now() RETURNS timestamptz
    LANGUAGE sql VOLATILE PARALLEL RESTRICTED
    AS 'SELECT clock_timestamp()';

CREATE TABLE tenants (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    retention_days integer CHECK (retention_days BETWEEN 1 AND 3650),
    created_at timestamptz NOT NULL DEFAULT cadenza_now()
);

CREATE TABLE jobs (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name text NOT NULL,
    description text NOT NULL DEFAULT '',
    paused_until timestamptz,
    archived_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT cadenza_now()
);
CREATE INDEX jobs_of_tenant ON jobs (tenant_id);

CREATE TABLE endpoints (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    archived_at timestamptz,

    target jsonb NOT NULL,
    host text NOT NULL DEFAULT '',

    -- The owner's schedule: an interval, a cron, or neither, which is on demand.
    baseline_interval_ms bigint CHECK (baseline_interval_ms BETWEEN 1 AND 31622400000),
    baseline_cron text,
    timezone text,
    min_interval_ms bigint CHECK (min_interval_ms BETWEEN 1 AND 31622400000),
    max_interval_ms bigint CHECK (max_interval_ms BETWEEN 1 AND 31622400000),
    CONSTRAINT one_baseline CHECK (num_nonnulls(baseline_interval_ms, baseline_cron) <= 1),
    CONSTRAINT cron_has_a_zone CHECK ((baseline_cron IS NULL) = (timezone IS NULL)),
    CONSTRAINT min_is_not_above_max CHECK (min_interval_ms <= max_interval_ms),

    -- Hints and pauses, each with its own end and author.
    hint_interval_ms bigint CHECK (hint_interval_ms > 0),
    hint_interval_expires_at timestamptz,
    hint_interval_author text CHECK (hint_interval_author IN ('person', 'planner')),
    hint_interval_reason text,
    hint_run_at timestamptz,
    hint_run_expires_at timestamptz,
    hint_run_author text CHECK (hint_run_author IN ('person', 'planner')),
    hint_run_reason text,
    CONSTRAINT a_hint_expires CHECK (
        num_nulls(hint_interval_ms, hint_interval_expires_at, hint_interval_author) IN (0, 3)
        AND num_nulls(hint_run_at, hint_run_expires_at, hint_run_author) IN (0, 3)
    ),
    person_paused_until timestamptz,
    person_pause_reason text,
    planner_paused_until timestamptz,
    planner_pause_reason text,
    job_paused_until timestamptz,
    planner_changes timestamptz[] NOT NULL DEFAULT '{}',

    -- Where it stands.
    failure_count integer NOT NULL DEFAULT 0 CHECK (failure_count >= 0),
    not_before_at timestamptz,
    last_run_at timestamptz,
    last_slot_at timestamptz,
    next_run_at timestamptz,
    next_source text,
    plan json,
    CONSTRAINT a_next_run_has_a_source CHECK (next_run_at IS NULL OR next_source IS NOT NULL),

    -- The run in flight, and the lease that its worker holds.
    manual_slot_at timestamptz,
    running_run_id uuid,
    running_slot_at timestamptz,
    running_attempt integer,
    running_claimed_at timestamptz,
    running_is_manual boolean NOT NULL DEFAULT false,
    lease_epoch bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    leased_by text,
    CONSTRAINT a_lease_has_an_epoch CHECK (lease_until IS NULL OR lease_epoch > 0),
    CONSTRAINT a_lease_has_a_run CHECK (lease_until IS NULL OR running_run_id IS NOT NULL),
    CONSTRAINT a_run_in_flight_is_whole CHECK (
        num_nulls(running_run_id, running_slot_at, running_attempt, running_claimed_at) IN (0, 4)
    ),

    -- What decides whether a planner should look.
    last_finished_at timestamptz,
    last_failed_at timestamptz,
    last_answer bigint,
    changed_at timestamptz,
    asked_at timestamptz,
    looked_at timestamptz,
    next_analysis_at timestamptz,
    last_reasoning text,
    idle_looks bigint NOT NULL DEFAULT 0
)
-- Room on each page lets a claim rewrite a row beside itself, with no work for any index.
WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- Plain on purpose: an index that also held the lease would make every claim an index write.
CREATE INDEX endpoints_due ON endpoints (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX endpoints_due_by_tenant ON endpoints (tenant_id, next_run_at)
    WHERE next_run_at IS NOT NULL;
CREATE INDEX endpoints_asked_for_now ON endpoints (manual_slot_at) WHERE manual_slot_at IS NOT NULL;
CREATE INDEX endpoints_running_by_hand ON endpoints (id) WHERE running_is_manual;
CREATE INDEX endpoints_of_job ON endpoints (job_id, name);

-- One row a slot, for ever. By day, so that old days can be dropped at once.
CREATE TABLE runs (
    id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    slot_at timestamptz NOT NULL,
    source text NOT NULL,
    status text NOT NULL CHECK (status IN ('running', 'success', 'failure', 'timeout', 'cancelled')),
    attempt integer NOT NULL CHECK (attempt > 0),
    epoch bigint NOT NULL CHECK (epoch > 0),
    is_manual boolean NOT NULL DEFAULT false,
    claimed_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    status_code integer,
    error_kind text,
    error_message text,
    body json,
    plan json,
    skipped_slots integer NOT NULL DEFAULT 0,
    skipped_reason text,
    PRIMARY KEY (endpoint_id, slot_at),
    CONSTRAINT what_has_ended_says_when CHECK ((status = 'running') = (finished_at IS NULL))
) PARTITION BY RANGE (slot_at);
CREATE INDEX runs_by_id ON runs (id);
-- What is older or later than the days that were made ahead.
CREATE TABLE runs_default PARTITION OF runs DEFAULT;

CREATE TABLE run_attempts (
    run_id uuid NOT NULL,
    attempt integer NOT NULL,
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    slot_at timestamptz NOT NULL,
    noted_at timestamptz NOT NULL,
    PRIMARY KEY (run_id, attempt)
);
CREATE INDEX run_attempts_by_age ON run_attempts (noted_at);

CREATE TABLE late_results (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    epoch bigint NOT NULL,
    status text NOT NULL,
    received_at timestamptz NOT NULL
);
CREATE INDEX late_results_of_endpoint ON late_results (endpoint_id, id);
CREATE INDEX late_results_by_age ON late_results (received_at);

CREATE TABLE analysis_sessions (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    job_id uuid NOT NULL,
    endpoint_id uuid NOT NULL REFERENCES endpoints ON DELETE CASCADE,
    brain text NOT NULL,
    started_at timestamptz NOT NULL,
    duration_ms bigint NOT NULL,
    ended_as text NOT NULL,
    tool_calls jsonb NOT NULL,
    reasoning text NOT NULL,
    confidence double precision,
    tokens bigint NOT NULL DEFAULT 0,
    cost double precision NOT NULL DEFAULT 0,
    warnings text[] NOT NULL DEFAULT '{}',
    next_analysis_at timestamptz
);
CREATE INDEX sessions_of_endpoint ON analysis_sessions (endpoint_id, started_at);
CREATE INDEX sessions_by_age ON analysis_sessions (started_at);

CREATE TABLE quotas (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    month text NOT NULL CHECK (month ~ '^[0-9]{4}-[0-9]{2}$'),
    token_limit bigint,
    used bigint NOT NULL DEFAULT 0 CHECK (used >= 0),
    reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    PRIMARY KEY (tenant_id, month)
);

CREATE TABLE events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    at timestamptz NOT NULL DEFAULT cadenza_now(),
    kind text NOT NULL,
    endpoint_id uuid,
    data jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX events_of_tenant ON events (tenant_id, id);
CREATE INDEX events_by_age ON events (at);

CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    at timestamptz NOT NULL DEFAULT cadenza_now(),
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    data jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_of_tenant ON audit_log (tenant_id, id);
CREATE INDEX audit_by_age ON audit_log (at);
