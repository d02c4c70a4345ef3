-- Who is signed in to the dashboard. Tokens are kept as hashes; all of it ends with its key.
CREATE TABLE sign_ins (
    hash bytea PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    key_id uuid NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL
);
CREATE INDEX sign_ins_of_user ON sign_ins (user_id);
CREATE INDEX sign_ins_of_key ON sign_ins (key_id);
CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);

-- Links that sign their owner in once.
CREATE TABLE sign_in_links (
    hash bytea PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    key_id uuid NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_links_of_key ON sign_in_links (key_id);
CREATE INDEX sign_in_links_by_end ON sign_in_links (expires_at);
