-- One job of a tenant, for a change of it.
SELECT cadenza_now() AS now, j.id, j.tenant_id, j.name, j.description, j.paused_until,
       j.archived_at, j.revision, j.rules, j.planner_mode, j.probe_budget
FROM jobs AS j
WHERE j.tenant_id = $1 AND j.id = $2
FOR UPDATE OF j
