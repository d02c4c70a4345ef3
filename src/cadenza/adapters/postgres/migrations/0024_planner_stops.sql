-- What the planner's modes were where it is stopped everywhere: one row for each such tenant, until
-- it is started again.
CREATE TABLE planner_stops (
    tenant_id uuid PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
    stopped_at timestamptz NOT NULL,
    stopped_by uuid,  -- the user; NULL: the installation's admin
    reason text NOT NULL DEFAULT '',
    modes json NOT NULL,  -- of the tenant, by brain
    jobs json NOT NULL  -- by job and brain: those that let it do something
);
-- Until now they were in the audit entry of the stop. Of tenants that are stopped still.
INSERT INTO planner_stops (tenant_id, stopped_at, stopped_by, modes, jobs)
SELECT t.id, stop.at, key.user_id, stop.data -> 'modes', stop.data -> 'jobs'
FROM tenants AS t
CROSS JOIN LATERAL (
    SELECT a.at, a.actor, a.action, a.data
    FROM audit_log AS a
    WHERE a.tenant_id = t.id AND a.action IN ('planner.stop', 'planner.start')
    ORDER BY a.id DESC
    LIMIT 1
) AS stop
LEFT JOIN api_keys AS key ON key.tenant_id = t.id AND stop.actor LIKE '%(' || key.id || ')'
WHERE t.rules_mode = 'off' AND t.detectors_mode = 'off' AND t.llm_mode = 'off'
  AND stop.action = 'planner.stop' AND stop.data -> 'modes' IS NOT NULL
  AND stop.data -> 'jobs' IS NOT NULL;
