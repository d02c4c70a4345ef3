-- Every committed state of endpoints and runs, in the order of commits: the third witness. It says
-- what time it was by the clock that programs are told, which may be set, and by one that is not.
CREATE SEQUENCE chaos_order;
CREATE TABLE chaos_endpoints (LIKE endpoints);
CREATE TABLE chaos_runs (LIKE runs);
ALTER TABLE chaos_endpoints ADD COLUMN chaos_at timestamptz, ADD COLUMN chaos_seq bigint;
ALTER TABLE chaos_runs ADD COLUMN chaos_at timestamptz, ADD COLUMN chaos_seq bigint,
    ADD COLUMN chaos_op text, ADD COLUMN chaos_moment timestamptz;
CREATE FUNCTION chaos_note_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos_endpoints SELECT NEW.*, cadenza_now(), nextval('chaos_order');
    RETURN NULL;
END $$;
CREATE FUNCTION chaos_note_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO chaos_runs SELECT OLD.*, cadenza_now(), nextval('chaos_order'), TG_OP,
            clock_timestamp();
    ELSE
        INSERT INTO chaos_runs SELECT NEW.*, cadenza_now(), nextval('chaos_order'), TG_OP,
            clock_timestamp();
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_note AFTER INSERT OR UPDATE ON endpoints
    FOR EACH ROW EXECUTE FUNCTION chaos_note_endpoint();
CREATE TRIGGER chaos_note AFTER INSERT OR UPDATE OR DELETE ON runs
    FOR EACH ROW EXECUTE FUNCTION chaos_note_run();
