-- Secrets at rest. A sealed value is `v1:<id of its master key>:<ciphertext>`, and opens only in
-- the tenant, row and column that it was sealed for. Anything else is refused, plain text above all.

ALTER TABLE endpoints ADD COLUMN secret_headers jsonb;
ALTER TABLE endpoints ADD CONSTRAINT secret_headers_are_sealed CHECK (
    jsonb_typeof(secret_headers) = 'object'
    AND NOT jsonb_path_exists(
        secret_headers, '$.* ? (@.type() != "string" || !(@ like_regex "^v[0-9]+:"))'
    )
) NOT VALID;  -- there is nothing in it yet, and looking would hold up every claim

CREATE TABLE signing_keys (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    secret text NOT NULL,
    created_at timestamptz NOT NULL,
    retires_at timestamptz,
    CONSTRAINT a_signing_key_is_sealed CHECK (secret ~ '^v[0-9]+:'),
    CONSTRAINT a_key_ends_after_it_began CHECK (retires_at >= created_at)
);
CREATE INDEX signing_keys_of_tenant ON signing_keys (tenant_id);
CREATE UNIQUE INDEX one_signing_key_has_no_end ON signing_keys (tenant_id) WHERE retires_at IS NULL;
