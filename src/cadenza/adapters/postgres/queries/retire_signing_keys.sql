-- Keys that have ended go; those that sign end at this instant, or sooner where they do already.
WITH ended AS (
    DELETE FROM signing_keys WHERE tenant_id = $1 AND retires_at <= $2
)
UPDATE signing_keys
SET retires_at = least(retires_at, $3::timestamptz)
WHERE tenant_id = $1 AND (retires_at IS NULL OR retires_at > $2)
