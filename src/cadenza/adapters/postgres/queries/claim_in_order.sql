-- Claim due endpoints: lease them and record their runs, in one statement.
WITH {claim_clock},
candidates AS MATERIALIZED (
{due_in_order}
),
{claim_candidates}
SELECT meta.*, NULL::uuid AS last_tenant_id, claimed.*
FROM meta LEFT JOIN claimed ON true
