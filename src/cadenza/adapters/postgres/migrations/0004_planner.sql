-- What a session was told, and money beside tokens.

ALTER TABLE analysis_sessions
    ADD COLUMN prompt_version text,
    ADD COLUMN suggests_until timestamptz,  -- while something of it can be accepted
    ADD COLUMN acts_until timestamptz;      -- while what it wrote can lead to runs
CREATE INDEX sessions_that_suggest ON analysis_sessions (tenant_id, suggests_until)
    WHERE suggests_until IS NOT NULL;
CREATE INDEX suggestions_of_endpoint ON analysis_sessions (endpoint_id, suggests_until)
    WHERE suggests_until IS NOT NULL;

-- The analysis that wrote a hint or a pause, so that the runs they lead to can name it.
ALTER TABLE endpoints
    ADD COLUMN hint_interval_session_id uuid,
    ADD COLUMN hint_run_session_id uuid,
    ADD COLUMN planner_pause_session_id uuid;

ALTER TABLE quotas
    ADD COLUMN cost_limit double precision,
    ADD COLUMN cost_used double precision NOT NULL DEFAULT 0,
    ADD COLUMN cost_reserved double precision NOT NULL DEFAULT 0,
    ADD CONSTRAINT quotas_cost_used_check CHECK (cost_used >= 0),
    ADD CONSTRAINT quotas_cost_reserved_check CHECK (cost_reserved >= 0);

-- One row a session that is under way: what it settles, it settles once.
CREATE TABLE quota_reservations (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    month text NOT NULL,
    tokens bigint NOT NULL CHECK (tokens >= 0),
    cost double precision NOT NULL DEFAULT 0 CHECK (cost >= 0),
    reserved_at timestamptz NOT NULL DEFAULT cadenza_now()
);
CREATE INDEX quota_reservations_of_tenant ON quota_reservations (tenant_id, reserved_at);

-- What an owner declares about the planner: rules, what it may do, and how much it may probe.
ALTER TABLE jobs
    ADD COLUMN rules jsonb NOT NULL DEFAULT '[]',
    ADD COLUMN planner_mode text CHECK (planner_mode IN ('off', 'advise', 'act')),
    ADD COLUMN probe_budget double precision NOT NULL DEFAULT 1
        CHECK (probe_budget BETWEEN 0.1 AND 100);
ALTER TABLE tenants
    ADD COLUMN rules_mode text NOT NULL DEFAULT 'act'
        CHECK (rules_mode IN ('off', 'advise', 'act')),
    ADD COLUMN llm_mode text NOT NULL DEFAULT 'advise'
        CHECK (llm_mode IN ('off', 'advise', 'act'));

-- What each brain remembers of an endpoint: apart from the row that claims and finishes rewrite.
-- The columns of endpoints that held it for one brain stay for this version, unused.
CREATE TABLE looks (
    endpoint_id uuid NOT NULL REFERENCES endpoints ON DELETE CASCADE,
    brain text NOT NULL,
    looked_at timestamptz,
    next_analysis_at timestamptz,
    reasoning text NOT NULL DEFAULT '',
    idle_looks bigint NOT NULL DEFAULT 0,
    fired jsonb NOT NULL DEFAULT '{}',  -- declared rules, and when each last did something
    leased_until timestamptz,
    leased_by text,
    PRIMARY KEY (endpoint_id, brain),
    CONSTRAINT a_look_under_way_has_a_planner CHECK ((leased_until IS NULL) = (leased_by IS NULL))
)
-- Each look writes its row twice, beside itself.
WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX endpoints_finished ON endpoints (last_finished_at);
CREATE INDEX endpoints_asked ON endpoints (asked_at) WHERE asked_at IS NOT NULL;
