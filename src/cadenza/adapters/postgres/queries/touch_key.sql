-- Note that a key was used, to the minute: not a write with every request.
UPDATE api_keys
SET last_used_at = cadenza_now()
WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < cadenza_now() - interval '1 minute')
