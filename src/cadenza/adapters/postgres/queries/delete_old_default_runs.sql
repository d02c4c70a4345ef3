-- Old runs in the partition that no day owns, a batch at a time.
DELETE FROM runs_default
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM runs_default
    WHERE slot_at < $1 AND status <> 'running'
    LIMIT 5000
))
