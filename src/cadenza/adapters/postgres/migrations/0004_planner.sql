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
