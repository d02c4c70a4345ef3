-- How runs ended, without reading them: a run is finished in place, which an index on its status
-- would not allow. Written by the statement that ends them, whoever sends it.
CREATE TABLE failed_runs (
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    slot_at timestamptz NOT NULL,
    id uuid NOT NULL,
    source text NOT NULL,
    status text NOT NULL CHECK (status IN ('failure', 'timeout', 'cancelled')),
    is_manual boolean NOT NULL,
    PRIMARY KEY (tenant_id, endpoint_id, slot_at)
);
CREATE INDEX failed_runs_of_tenant ON failed_runs (tenant_id, slot_at);
-- For what is old, not for lists: a plan that took it for those would read all tenants'.
CREATE INDEX failed_runs_by_age ON failed_runs USING brin (slot_at);

-- So many ended in the five minutes from `since`; in parts, so that two workers that finish runs of
-- one tenant seldom wait for each other.
CREATE TABLE run_counts (
    tenant_id uuid NOT NULL,
    since timestamptz NOT NULL,
    status text NOT NULL,
    runs bigint NOT NULL CHECK (runs > 0),
    part smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, since, status, part)
)
WITH (fillfactor = 50);
CREATE INDEX run_counts_by_age ON run_counts (since);

CREATE FUNCTION note_ended_runs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ended WHERE status <> 'running') THEN
        RETURN NULL;  -- a claim, which takes over what others have lost
    END IF;
    INSERT INTO failed_runs (tenant_id, endpoint_id, slot_at, id, source, status, is_manual)
    SELECT tenant_id, endpoint_id, slot_at, id, source, status, is_manual
    FROM ended
    WHERE status NOT IN ('running', 'success')
    ON CONFLICT DO NOTHING;
    INSERT INTO run_counts (tenant_id, since, status, runs, part)
    SELECT tenant_id, date_bin('5 minutes', finished_at, 'epoch') AS since, status, count(*),
           pg_backend_pid() % 16
    FROM ended
    WHERE status <> 'running'
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3  -- two that count the same wait for each other, never in a circle
    ON CONFLICT (tenant_id, since, status, part) DO UPDATE
        SET runs = run_counts.runs + excluded.runs;
    RETURN NULL;
END
$$;
CREATE TRIGGER runs_ended
    AFTER UPDATE ON runs
    REFERENCING NEW TABLE AS ended
    FOR EACH STATEMENT EXECUTE FUNCTION note_ended_runs();
