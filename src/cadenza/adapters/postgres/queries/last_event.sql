-- The newest event of a tenant that nothing can come before any more.
SELECT xact::text AS xact, id
FROM events
WHERE tenant_id = $1 AND xact < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY events.xact DESC, events.id DESC  -- not by the text of it
LIMIT 1
