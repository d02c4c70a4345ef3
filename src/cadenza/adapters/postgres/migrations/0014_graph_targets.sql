-- Graphs as targets of endpoints: who runs them, that they start at most once, and who pays.

-- Which workers claim an endpoint; '' is any scheduler. What nobody claims just now must not lie in
-- the way of the others, so it leads the index by which they find what is due.
ALTER TABLE endpoints ADD COLUMN runs_on text NOT NULL DEFAULT '';
DROP INDEX endpoints_due;
CREATE INDEX endpoints_due ON endpoints (runs_on, next_run_at) WHERE next_run_at IS NOT NULL;

-- When the run in flight was started, where it must not be started twice.
ALTER TABLE endpoints ADD COLUMN running_started_at timestamptz;
ALTER TABLE endpoints ADD CONSTRAINT a_start_has_a_run
    CHECK (running_started_at IS NULL OR running_run_id IS NOT NULL);

ALTER TABLE execution_grants ADD COLUMN endpoint_id uuid;  -- made for this one, and revoked with it
CREATE INDEX grants_of_endpoint ON execution_grants (endpoint_id) WHERE endpoint_id IS NOT NULL;
