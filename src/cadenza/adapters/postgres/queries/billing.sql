-- Accounts that pay for models: their ledger, what they used, and their keys for providers.

-- name: list_billing_accounts
-- The accounts of a tenant by name, from one on, or the one of that name.
SELECT id, tenant_id, name, balance, created_at
FROM accounts
WHERE tenant_id = $1
  AND ($2::text IS NULL OR name = $2)
  AND ($3::text IS NULL OR (name, id) > ($3, $4::uuid))
ORDER BY name, id
LIMIT $5

-- name: get_billing_account
-- One account of a tenant.
SELECT id, tenant_id, name, balance, created_at FROM accounts WHERE tenant_id = $1 AND id = $2

-- name: lock_billing_account
-- One account of a tenant, for a change of it or of its keys. Charges wait.
SELECT id, tenant_id, name, balance, created_at
FROM accounts
WHERE tenant_id = $1 AND id = $2
FOR NO KEY UPDATE

-- name: insert_billing_account
-- A new account.
INSERT INTO accounts (id, tenant_id, name, balance, created_at) VALUES ($1, $2, $3, $4, $5)

-- name: add_charge
-- A charge, the balance that moves with it, and its entry. A reference that is there already
-- leaves all three as they are. Entries are numbered while the account is held by the update, so
-- that the balance of each is the sum of those up to it.
WITH charged AS (
    INSERT INTO charges (reference, tenant_id, account_id, run_id, schedule_id, graph_id, model,
                         input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
                         credits, basis, job_id, endpoint_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    ON CONFLICT (reference) DO NOTHING
    RETURNING reference, tenant_id, account_id, credits
),
moved AS (
    UPDATE accounts AS a
    SET balance = a.balance - charged.credits
    FROM charged
    WHERE a.id = charged.account_id
    RETURNING a.id, a.tenant_id, a.balance, charged.credits, charged.reference
)
INSERT INTO ledger (tenant_id, account_id, credits, balance, reason, reference)
SELECT tenant_id, id, -credits, balance, 'charge', reference FROM moved
RETURNING id

-- name: add_entry
-- An entry that a person made, with the balance that moves along.
WITH moved AS (
    UPDATE accounts SET balance = balance + $2 WHERE id = $1 RETURNING id, tenant_id, balance
)
INSERT INTO ledger (tenant_id, account_id, credits, balance, reason, reference)
SELECT tenant_id, id, $2, balance, $3, $4 FROM moved
RETURNING id, account_id, at, credits, balance, reason, reference

-- name: find_entry
-- The entry of an account with this reference.
SELECT id, account_id, at, credits, balance, reason, reference
FROM ledger
WHERE account_id = $1 AND reference = $2

-- name: read_ledger
-- The entries of an account, newest first, from one on.
SELECT id, account_id, at, credits, balance, reason, reference
FROM ledger
WHERE tenant_id = $1 AND account_id = $2 AND id < coalesce($3::bigint, 9223372036854775807)
ORDER BY id DESC
LIMIT $4

-- name: check_ledger
-- What the rows of an account say about each other.
WITH summed AS (
    SELECT id, balance <> sum(credits) OVER (ORDER BY id) AS is_wrong, credits
    FROM ledger
    WHERE account_id = $2
),
entries AS (
    SELECT count(*) AS entries, coalesce(sum(credits), 0)::bigint AS total,
           min(id) FILTER (WHERE is_wrong) AS wrong_entry
    FROM summed
),
paired AS (
    SELECT count(*) FILTER (WHERE entry.id IS NULL) AS unwritten_charges,
           count(*) FILTER (WHERE charge.reference IS NULL) AS uncharged_entries
    FROM (SELECT * FROM charges WHERE account_id = $2) AS charge
    FULL JOIN (SELECT * FROM ledger WHERE account_id = $2 AND reason = 'charge') AS entry
        ON entry.reference = charge.reference AND entry.credits = -charge.credits
)
SELECT a.id, a.name, a.balance, entries.*, paired.*
FROM accounts AS a, entries, paired
WHERE a.tenant_id = $1 AND a.id = $2

-- name: usage_of_account
-- What an account used between two instants, grouped by $3; days in their order, else what cost
-- most first.
WITH grouped AS (
    SELECT CASE $3
               WHEN 'day' THEN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
               WHEN 'schedule' THEN schedule_id::text
               WHEN 'endpoint' THEN endpoint_id::text
               WHEN 'graph' THEN graph_id
               WHEN 'job' THEN job_id::text
               WHEN 'model' THEN model
               ELSE account_id::text
           END AS label, charges.*
    FROM charges
    WHERE tenant_id = $1 AND account_id = $2
      AND at >= coalesce($4::timestamptz, '-infinity')
      AND at < coalesce($5::timestamptz, 'infinity')
)
SELECT label, count(*) AS calls, count(*) FILTER (WHERE basis = 'estimated') AS estimated_calls,
       sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,
       sum(cache_read_tokens)::bigint AS cache_read_tokens,
       sum(cache_write_tokens)::bigint AS cache_write_tokens, sum(credits)::bigint AS credits
FROM grouped
GROUP BY label
ORDER BY CASE WHEN $3 = 'day' THEN label END, sum(credits) DESC, label
LIMIT 10000

-- name: means_of
-- What a run could make a call with: its grant, its account, and the default key for an api.
SELECT cadenza_now() AS now,
       a.id AS account_id, a.name AS account_name, a.balance, a.created_at AS account_created_at,
       k.id AS key_id, k.base_url, k.sealed,
       g.id AS grant_id, g.user_id, g.account_id AS grant_account_id, g.scopes,
       g.created_at AS grant_created_at, g.expires_at, g.revoked_at, g.schedule_id
FROM (SELECT) AS one
LEFT JOIN accounts AS a ON a.tenant_id = $1 AND a.id = $2
LEFT JOIN virtual_keys AS k
    ON k.account_id = a.id AND k.api = $3 AND k.is_default AND k.revoked_at IS NULL
LEFT JOIN execution_grants AS g ON g.tenant_id = $1 AND g.id = $4

-- name: list_virtual_keys
-- The keys of an account, the oldest first, without their secrets.
SELECT id, account_id, name, api, base_url, hint, is_default, created_at, revoked_at
FROM virtual_keys
WHERE tenant_id = $1 AND account_id = $2
ORDER BY created_at, id
LIMIT 10000

-- name: insert_virtual_key
-- A new key of an account.
INSERT INTO virtual_keys (id, tenant_id, account_id, name, api, base_url, hint, sealed,
                          is_default, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: save_virtual_key
-- Whether it is the default, and when it was revoked: then its secret is forgotten.
UPDATE virtual_keys
SET is_default = $2, revoked_at = $3::timestamptz,
    sealed = CASE WHEN $3::timestamptz IS NULL THEN sealed END
WHERE id = $1
