-- What ended before it was noted. In a transaction of its own: it reads every run, and those that
-- end meanwhile must not wait for it.
INSERT INTO failed_runs (tenant_id, endpoint_id, slot_at, id, source, status, is_manual)
SELECT tenant_id, endpoint_id, slot_at, id, source, status, is_manual
FROM runs
WHERE status NOT IN ('running', 'success')
ON CONFLICT DO NOTHING;

INSERT INTO run_counts (tenant_id, since, status, runs)
SELECT tenant_id, date_bin('5 minutes', finished_at, 'epoch') AS since, status, count(*)
FROM runs
WHERE slot_at > cadenza_now() - interval '2 days'
  AND finished_at <= (SELECT applied_at FROM schema_migrations WHERE number = 5)
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
ON CONFLICT (tenant_id, since, status, part) DO UPDATE
    SET runs = run_counts.runs + excluded.runs;
