-- The next events of a tenant, up to the oldest transaction that may still commit before them.
SELECT xact::text AS xact, id, at, kind, job_id, endpoint_id, data
FROM events
WHERE tenant_id = $1
  AND (xact, id) > ($2::text::xid8, $3::bigint)
  AND xact < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY events.xact, events.id  -- not by the text of it
LIMIT $4
