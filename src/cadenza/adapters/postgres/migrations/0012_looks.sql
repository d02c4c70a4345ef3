-- A look of a model has a reason, keeps to its gaps, backs off where it fails, and is paid for.

ALTER TABLE endpoints
    ADD COLUMN steered_at timestamptz,         -- when its hints or pauses changed
    ADD COLUMN streak_changed_at timestamptz;  -- when a failure streak began or ended

ALTER TABLE looks
    ADD COLUMN streak_looked_at timestamptz,  -- the last look that a failure streak made urgent
    ADD COLUMN failed_looks integer NOT NULL DEFAULT 0 CHECK (failed_looks >= 0),  -- in a row
    ADD COLUMN trouble text NOT NULL DEFAULT '';  -- why the last one failed, or was not held

ALTER TABLE analysis_sessions
    ADD COLUMN reason text,
    ADD COLUMN input_tokens bigint NOT NULL DEFAULT 0,
    ADD COLUMN cached_tokens bigint NOT NULL DEFAULT 0,
    ADD COLUMN output_tokens bigint NOT NULL DEFAULT 0,
    ADD COLUMN account_id uuid;  -- that was charged

-- What a job may spend in a day, as quotas has it of a tenant and month.
CREATE TABLE job_quotas (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    day text NOT NULL CHECK (day ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
    token_limit bigint,
    used bigint NOT NULL DEFAULT 0 CHECK (used >= 0),
    reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    cost_limit double precision,
    cost_used double precision NOT NULL DEFAULT 0 CHECK (cost_used >= 0),
    cost_reserved double precision NOT NULL DEFAULT 0 CHECK (cost_reserved >= 0),
    refused_at timestamptz,
    begun_at timestamptz NOT NULL DEFAULT cadenza_now(),
    PRIMARY KEY (job_id, day)
);
CREATE INDEX job_quotas_by_age ON job_quotas (begun_at);
ALTER TABLE quota_reservations
    ADD COLUMN job_id uuid REFERENCES jobs ON DELETE CASCADE,
    ADD COLUMN day text;

-- A session of the planner is charged as a run of a graph is: what it was about.
ALTER TABLE charges
    ADD COLUMN job_id uuid,
    ADD COLUMN endpoint_id uuid;
-- Who pays for sessions of jobs that name no account.
ALTER TABLE tenants
    ADD COLUMN planner_account_id uuid,
    ADD FOREIGN KEY (id, planner_account_id) REFERENCES accounts (tenant_id, id);
