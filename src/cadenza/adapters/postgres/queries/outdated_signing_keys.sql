-- A batch of signing keys, by id, that another master key than this one sealed.
SELECT id, tenant_id, secret AS sealed
FROM signing_keys
WHERE id > $2 AND split_part(secret, ':', 2) <> $1
ORDER BY id
LIMIT $3
