-- What the API needs: users and their keys, names that are unique, revisions, creates told twice,
-- events in the order of their commits.

CREATE TABLE users (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT cadenza_now(),
    UNIQUE (tenant_id, id)
);
CREATE UNIQUE INDEX one_user_has_a_name ON users (tenant_id, name);

-- Of a key only its hash is kept: it has 256 bits of chance, so a plain hash is enough.
CREATE TABLE api_keys (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    user_id uuid NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL,
    hash bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT cadenza_now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT a_key_may_do_something CHECK (
        cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'operate', 'admin']
    ),
    CONSTRAINT a_key_is_hashed CHECK (octet_length(hash) = 32)
);
CREATE INDEX api_keys_of_tenant ON api_keys (tenant_id, created_at);
CREATE INDEX api_keys_of_user ON api_keys (tenant_id, user_id);

-- Which workers live; one that has not been seen for a while is gone.
CREATE TABLE workers (
    name text PRIMARY KEY,
    kind text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT cadenza_now(),
    seen_at timestamptz NOT NULL DEFAULT cadenza_now()
);

ALTER TABLE tenants ADD COLUMN watched_until timestamptz;  -- somebody follows its events
CREATE INDEX tenants_watched ON tenants (watched_until) WHERE watched_until IS NOT NULL;
CREATE UNIQUE INDEX one_tenant_has_a_name ON tenants (name);

-- A job and its endpoints are of one tenant; among those that are not archived a name is unique.
ALTER TABLE jobs ADD COLUMN revision integer NOT NULL DEFAULT 1;
ALTER TABLE jobs ADD CONSTRAINT jobs_of_one_tenant UNIQUE (tenant_id, id);
CREATE UNIQUE INDEX one_job_has_a_name ON jobs (tenant_id, name) WHERE archived_at IS NULL;
ALTER TABLE endpoints ADD COLUMN revision integer NOT NULL DEFAULT 1;
ALTER TABLE endpoints ADD CONSTRAINT its_job_is_of_its_tenant
    FOREIGN KEY (tenant_id, job_id) REFERENCES jobs (tenant_id, id) ON DELETE CASCADE NOT VALID;
CREATE UNIQUE INDEX one_endpoint_has_a_name ON endpoints (job_id, name) WHERE archived_at IS NULL;
CREATE INDEX endpoints_of_tenant ON endpoints (tenant_id, created_at, id);

CREATE INDEX runs_of_tenant ON runs (tenant_id, slot_at);
CREATE INDEX sessions_of_tenant ON analysis_sessions (tenant_id, started_at);
CREATE INDEX sessions_of_job ON analysis_sessions (job_id, started_at);
DROP INDEX audit_of_tenant;
CREATE INDEX audit_of_tenant ON audit_log (tenant_id, at);
CREATE INDEX audit_of_subject ON audit_log (tenant_id, subject, at);

-- A create that is told twice under one key happens once.
CREATE TABLE idempotency_keys (
    tenant_id uuid NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    created_id uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT cadenza_now(),
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (at);

-- Numbers are given out before commits, so that a reader could pass over a row that comes late.
-- Ordered by transaction, and read only up to the oldest one still open, none is ever missed.
ALTER TABLE events ADD COLUMN job_id uuid;
ALTER TABLE events ADD COLUMN xact xid8 NOT NULL DEFAULT pg_current_xact_id();
DROP INDEX events_of_tenant;
CREATE INDEX events_of_tenant ON events (tenant_id, xact, id);
