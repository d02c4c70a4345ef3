-- Scheduled graphs: who pays (accounts), on whose behalf (grants), what runs when (schedules), and
-- the queue of slots, which is their history too (schedule_runs).

-- Money is in integer credits. The balance is the sum of the account's ledger.
CREATE TABLE accounts (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name text NOT NULL,
    balance bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT cadenza_now(),
    UNIQUE (tenant_id, id)
);
CREATE UNIQUE INDEX one_account_has_a_name ON accounts (tenant_id, name);

-- How an account reaches its provider of models. Grants, schedules and runs hold no credential.
CREATE TABLE virtual_keys (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    api text NOT NULL CHECK (api IN ('openai', 'anthropic')),
    base_url text NOT NULL,
    hint text NOT NULL DEFAULT '',
    sealed text,  -- gone when it is revoked
    is_default boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT cadenza_now(),
    revoked_at timestamptz,
    CONSTRAINT a_virtual_key_is_sealed CHECK (sealed ~ '^v[0-9]+:'),
    CONSTRAINT a_revoked_key_is_gone CHECK ((sealed IS NULL) = (revoked_at IS NOT NULL)),
    FOREIGN KEY (tenant_id, account_id) REFERENCES accounts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX virtual_keys_of_account ON virtual_keys (account_id);
CREATE UNIQUE INDEX one_virtual_key_is_default ON virtual_keys (account_id, api)
    WHERE is_default AND revoked_at IS NULL;

CREATE TABLE charges (
    reference text PRIMARY KEY,  -- run/attempt/unit: usage told again charges once
    tenant_id uuid NOT NULL,
    account_id uuid NOT NULL,
    run_id uuid NOT NULL,
    schedule_id uuid,
    graph_id text,
    model text NOT NULL,
    input_tokens bigint NOT NULL CHECK (input_tokens >= 0),
    output_tokens bigint NOT NULL CHECK (output_tokens >= 0),
    cache_read_tokens bigint NOT NULL DEFAULT 0 CHECK (cache_read_tokens >= 0),
    cache_write_tokens bigint NOT NULL DEFAULT 0 CHECK (cache_write_tokens >= 0),
    credits bigint NOT NULL CHECK (credits >= 0),
    basis text NOT NULL CHECK (basis IN ('counted', 'estimated')),
    at timestamptz NOT NULL DEFAULT cadenza_now(),
    FOREIGN KEY (tenant_id, account_id) REFERENCES accounts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX charges_of_account ON charges (account_id, at);
CREATE INDEX charges_of_run ON charges (run_id);

-- It only grows; an entry has the balance after it.
CREATE TABLE ledger (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id uuid NOT NULL,
    account_id uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT cadenza_now(),
    credits bigint NOT NULL,
    balance bigint NOT NULL,
    reason text NOT NULL,
    reference text NOT NULL,
    UNIQUE (account_id, reference),
    FOREIGN KEY (tenant_id, account_id) REFERENCES accounts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ledger_of_account ON ledger (account_id, id);

CREATE TABLE execution_grants (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    user_id uuid NOT NULL,
    account_id uuid NOT NULL,
    scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
    created_at timestamptz NOT NULL DEFAULT cadenza_now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    schedule_id uuid,  -- made for this one, and revoked with it
    expiry_notice_at timestamptz,  -- when its end is to be told of
    expiry_told_at timestamptz,
    FOREIGN KEY (tenant_id, account_id) REFERENCES accounts (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX grants_of_tenant ON execution_grants (tenant_id, created_at);
CREATE INDEX grants_of_account ON execution_grants (account_id);
CREATE INDEX grants_of_user ON execution_grants (user_id);
CREATE INDEX grants_that_expire ON execution_grants (expiry_notice_at)
    WHERE expiry_notice_at IS NOT NULL AND revoked_at IS NULL AND expiry_told_at IS NULL;

CREATE TABLE grant_uses (
    grant_id uuid NOT NULL REFERENCES execution_grants ON DELETE CASCADE,
    run_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT cadenza_now(),
    graph_id text NOT NULL,
    refusal text,  -- NULL: it was good
    PRIMARY KEY (grant_id, run_id)
);
CREATE INDEX grant_uses_of_grant ON grant_uses (grant_id, at);

CREATE TABLE schedules (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    user_id uuid NOT NULL,
    grant_id uuid NOT NULL REFERENCES execution_grants ON DELETE CASCADE,
    name text,
    graph_id text NOT NULL,
    input jsonb NOT NULL,
    cron text NOT NULL,
    timezone text NOT NULL,
    concurrency text NOT NULL CHECK (concurrency IN ('forbid', 'allow', 'replace')),
    limits jsonb NOT NULL,
    requires text[] NOT NULL DEFAULT '{}',
    enabled boolean NOT NULL DEFAULT true,
    revision integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT cadenza_now(),
    updated_at timestamptz NOT NULL DEFAULT cadenza_now(),
    deleted_at timestamptz,
    last_run_at timestamptz,
    last_ended_at timestamptz
);
CREATE INDEX schedules_of_tenant ON schedules (tenant_id, created_at, id);
CREATE INDEX schedules_of_grant ON schedules (grant_id);
CREATE UNIQUE INDEX one_schedule_has_a_name ON schedules (tenant_id, name)
    WHERE deleted_at IS NULL;

-- A row is a job of the queue: its key (schedule, slot) is unique for ever. It has no id before it
-- is started or closed. History stays when its schedule is deleted.
CREATE TABLE schedule_runs (
    schedule_id uuid NOT NULL REFERENCES schedules ON DELETE CASCADE,
    slot_at timestamptz NOT NULL,
    id uuid UNIQUE,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    status text NOT NULL DEFAULT 'scheduled' CHECK (
        status IN ('scheduled', 'running', 'success', 'error', 'skipped', 'cancelled', 'waiting')
    ),
    is_manual boolean NOT NULL DEFAULT false,
    concurrency text NOT NULL DEFAULT 'forbid',
    requires text[] NOT NULL DEFAULT '{}',
    attempt integer NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    leased_by text,
    started_at timestamptz,
    finished_at timestamptz,
    output jsonb,
    error_code text,
    error_message text,
    last_lines text NOT NULL DEFAULT '',
    reason text,
    skipped_slots integer NOT NULL DEFAULT 0,
    question jsonb,
    state bytea,  -- only where there is a question
    answer jsonb,
    answer_to uuid,
    answered_at timestamptz,
    PRIMARY KEY (schedule_id, slot_at)
) WITH (fillfactor = 80);
CREATE INDEX schedule_runs_due ON schedule_runs (slot_at) WHERE status = 'scheduled';
CREATE INDEX schedule_runs_leased ON schedule_runs (lease_until) WHERE status = 'running';
CREATE INDEX schedule_runs_under_way ON schedule_runs (schedule_id) WHERE status = 'running';
CREATE INDEX schedule_runs_of_tenant ON schedule_runs (tenant_id, slot_at);
CREATE UNIQUE INDEX one_slot_waits ON schedule_runs (schedule_id)
    WHERE status = 'scheduled' AND NOT is_manual;
CREATE UNIQUE INDEX one_run_at_a_time ON schedule_runs (schedule_id)
    WHERE status = 'running' AND concurrency <> 'allow';

CREATE TABLE schedule_run_events (
    run_id uuid NOT NULL,
    number integer NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    at timestamptz NOT NULL,
    kind text NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (run_id, number)
);

-- A schedule with the slot that waits.
CREATE VIEW listed_schedules AS
SELECT s.*, waiting.slot_at AS next_run_at
FROM schedules AS s
LEFT JOIN schedule_runs AS waiting
    ON waiting.schedule_id = s.id AND waiting.status = 'scheduled' AND NOT waiting.is_manual;

-- A slot as it is read; columns that come later do not change what a statement gives back.
CREATE VIEW stored_slots AS SELECT * FROM schedule_runs;
