-- The next runs of a tenant, newest slot first.
SELECT {listed_run}
FROM runs AS r
WHERE r.tenant_id = $1
  AND $2::uuid IS NULL  -- whose endpoint is not asked for
  AND {slot_is_between}
ORDER BY r.slot_at DESC, r.id DESC
LIMIT $6
