-- A batch of endpoints, by id, with headers that another master key than this one sealed.
SELECT e.id, e.tenant_id, e.secret_headers AS sealed
FROM endpoints AS e
WHERE e.id > $2
  AND EXISTS (
      SELECT FROM jsonb_each_text(e.secret_headers) AS header
      WHERE split_part(header.value, ':', 2) <> $1
  )
ORDER BY e.id
LIMIT $3
