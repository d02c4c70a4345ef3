-- API keys whose end is near are incidents, as grants are. One that a later key of its user and name
-- has followed, as after a rotation, is missed by nobody.
CREATE INDEX api_keys_by_end ON api_keys (expires_at)
    WHERE expires_at IS NOT NULL AND revoked_at IS NULL;
DO $$
BEGIN
    -- What the view was, and one kind more.
    EXECUTE 'CREATE OR REPLACE VIEW incident_conditions AS '
        || rtrim(pg_get_viewdef('incident_conditions'::regclass), ';')
        || $view$
UNION ALL
SELECT k.tenant_id, 'key-expiring', k.id::text, NULL, NULL, k.name, k.expiry_notice_at,
       CASE WHEN k.expires_at <= (SELECT cadenza_now()) THEN 2 ELSE 1 END, ''
FROM api_keys AS k
WHERE k.expires_at > (SELECT cadenza_now()) - interval '7 days'
  AND k.expires_at <= (SELECT cadenza_now()) + interval '7 days'  -- notice is given no sooner
  AND k.expiry_notice_at <= (SELECT cadenza_now())
  AND k.revoked_at IS NULL
  AND NOT EXISTS (
      SELECT FROM api_keys AS other
      WHERE other.tenant_id = k.tenant_id AND other.user_id = k.user_id AND other.name = k.name
        AND other.created_at > k.created_at AND other.revoked_at IS NULL
        AND (other.expires_at IS NULL OR other.expires_at > k.expires_at)
  )
$view$;
END $$;
