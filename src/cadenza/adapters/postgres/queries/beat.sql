-- A worker lives.
INSERT INTO workers (name, kind) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, seen_at = cadenza_now()
