-- Who asked for a run by hand, by the slot that it got. Of a claim there is only that it was asked
-- for; the table stands beside, so that claiming stays as it is.
CREATE TABLE asked_runs (
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL REFERENCES endpoints ON DELETE CASCADE,
    slot_at timestamptz NOT NULL,
    user_id uuid NOT NULL,
    PRIMARY KEY (endpoint_id, slot_at)
);
CREATE INDEX asked_runs_by_age ON asked_runs (slot_at);
