-- What an endpoint calls, and that its definition has changed.
UPDATE endpoints
SET target = $2, host = $3, secret_headers = $4, revision = revision + 1
WHERE id = $1
