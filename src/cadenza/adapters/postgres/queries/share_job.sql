-- The job that a new endpoint goes into: it must not end or pause meanwhile.
SELECT paused_until, archived_at FROM jobs WHERE tenant_id = $1 AND id = $2 FOR SHARE
