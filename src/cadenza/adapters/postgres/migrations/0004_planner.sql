-- What a session was told, and money beside tokens.

ALTER TABLE analysis_sessions ADD COLUMN prompt_version text;

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
    PRIMARY KEY (endpoint_id, brain)
);
CREATE INDEX endpoints_finished ON endpoints (last_finished_at);
