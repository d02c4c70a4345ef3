-- Whether an event is still there, and with it everything after it.
SELECT EXISTS (
    SELECT FROM events WHERE tenant_id = $1 AND xact = $2::text::xid8 AND id = $3::bigint
)
