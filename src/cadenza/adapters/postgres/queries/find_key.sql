-- A key by its id, with the user it acts for, and the time to judge it by.
SELECT cadenza_now() AS now, k.id, k.tenant_id, k.user_id, k.name, k.scopes, k.hash, k.created_at,
       k.expires_at, k.revoked_at, k.last_used_at, u.name AS user_name,
       u.created_at AS user_created_at
FROM api_keys AS k
JOIN users AS u ON u.id = k.user_id
WHERE k.id = $1
