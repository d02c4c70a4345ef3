-- What an owner lets planners do with a job, in one place: what jobs had as a mode for every brain and
-- a budget of probes. What is not in it has its usual value (adapters/postgres/policy_rows.py).
ALTER TABLE jobs
    ADD COLUMN planner jsonb NOT NULL DEFAULT '{}'
        CHECK (jsonb_typeof(planner) = 'object'),
    ADD CONSTRAINT jobs_planner_modes_check CHECK (
        coalesce(planner ->> 'rules', 'off') IN ('off', 'advise', 'act')
        AND coalesce(planner ->> 'detectors', 'off') IN ('off', 'advise', 'act')
        AND coalesce(planner ->> 'llm', 'off') IN ('off', 'advise', 'act')
    );
ALTER TABLE tenants
    ADD COLUMN detectors_mode text NOT NULL DEFAULT 'act'
        CHECK (detectors_mode IN ('off', 'advise', 'act'));

UPDATE jobs
SET planner = jsonb_strip_nulls(jsonb_build_object(
    'rules', planner_mode,
    'detectors', planner_mode,
    'llm', planner_mode,
    'extra_runs', CASE WHEN probe_budget > 1 THEN probe_budget - 1 END
))
WHERE planner_mode IS NOT NULL OR probe_budget > 1;
UPDATE tenants SET detectors_mode = rules_mode WHERE rules_mode <> 'act';

-- The two columns stay for this version, unused, for programs that have not been restarted.
CREATE OR REPLACE VIEW stored_jobs AS
SELECT
    j.id, j.tenant_id, j.name, j.description, j.paused_until, j.archived_at, j.created_at,
    j.revision, j.rules, j.planner_mode, j.probe_budget,
    (SELECT count(*) FROM endpoints AS e
      WHERE e.job_id = j.id AND e.archived_at IS NULL) AS endpoint_count,
    j.planner
FROM jobs AS j;
