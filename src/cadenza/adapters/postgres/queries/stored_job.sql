SELECT j.id, j.tenant_id, j.name, j.description, j.paused_until, j.archived_at, j.created_at,
       j.revision, j.rules, j.planner_mode, j.probe_budget,
       (SELECT count(*) FROM endpoints AS e
         WHERE e.job_id = j.id AND e.archived_at IS NULL) AS endpoint_count
FROM jobs AS j
