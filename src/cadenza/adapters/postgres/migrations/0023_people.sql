-- People: roles in a tenant and for single jobs, invitations, who somebody is at an OpenID provider,
-- and keys that end. A version before this one makes owners, whom their keys limit as ever.

ALTER TABLE users ADD COLUMN role text DEFAULT 'owner'
    CHECK (role IN ('viewer', 'operator', 'owner'));  -- NULL: only for single jobs
ALTER TABLE users ADD COLUMN email text;
ALTER TABLE users ADD COLUMN identity_issuer text;
ALTER TABLE users ADD COLUMN identity_subject text;
CREATE UNIQUE INDEX one_user_has_an_email ON users (tenant_id, email) WHERE email IS NOT NULL;
CREATE UNIQUE INDEX one_user_has_an_identity
    ON users (identity_issuer, identity_subject, tenant_id) WHERE identity_subject IS NOT NULL;
CREATE INDEX users_by_email ON users (email) WHERE email IS NOT NULL;

CREATE TABLE job_roles (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    job_id uuid NOT NULL,
    role text NOT NULL CHECK (role IN ('viewer', 'operator', 'owner')),
    PRIMARY KEY (user_id, job_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, job_id) REFERENCES jobs (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX job_roles_of_job ON job_roles (job_id);

-- Of the token in a link only its hash is kept.
CREATE TABLE invitations (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    email text NOT NULL,
    role text CHECK (role IN ('viewer', 'operator', 'owner')),
    job_roles jsonb NOT NULL DEFAULT '{}',
    hash bytea NOT NULL UNIQUE,
    invited_by text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    accepted_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX invitations_of_tenant ON invitations (tenant_id, created_at);

ALTER TABLE api_keys ADD COLUMN job_ids uuid[];  -- NULL: whatever its user may
ALTER TABLE api_keys ADD COLUMN expiry_notice_at timestamptz;  -- when its end is to be told of
ALTER TABLE api_keys ADD COLUMN expiry_told_at timestamptz;
CREATE INDEX api_keys_that_expire ON api_keys (expiry_notice_at)
    WHERE expiry_notice_at IS NOT NULL AND revoked_at IS NULL AND expiry_told_at IS NULL;

-- A browser that was signed in at a provider, or by an invitation, has no key. A version before
-- this one finds none for it, and asks to sign in.
ALTER TABLE sign_ins ALTER COLUMN key_id DROP NOT NULL;
