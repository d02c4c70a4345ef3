-- Somebody follows the events of a tenant; not a write with every look.
UPDATE tenants
SET watched_until = cadenza_now() + interval '10 minutes'
WHERE id = $1
  AND (watched_until IS NULL OR watched_until < cadenza_now() + interval '9 minutes')
