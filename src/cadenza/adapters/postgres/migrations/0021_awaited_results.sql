-- Runs whose result is reported to us, with the token that each attempt sent along, as a hash. The
-- first report of a run counts, whichever attempt's token it comes with; a run that has ended takes
-- none. Kept for two days: a run may wait for one.
CREATE TABLE awaited_results (
    run_id uuid NOT NULL,
    attempt integer NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    endpoint_id uuid NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT cadenza_now(),
    closed_at timestamptz,  -- nobody waits for it any more
    reported_at timestamptz,
    status text CHECK (status IN ('success', 'failure')),
    message text,
    body json,
    PRIMARY KEY (run_id, attempt),
    CONSTRAINT a_report_says_how_it_went CHECK ((reported_at IS NULL) = (status IS NULL))
);
CREATE INDEX awaited_results_by_age ON awaited_results (created_at);
CREATE INDEX awaited_results_of_tenant ON awaited_results (tenant_id);
