-- That the definition of an endpoint has changed.
UPDATE endpoints SET revision = revision + 1 WHERE id = $1
