-- Tell whoever listens on a channel.
SELECT pg_notify($1, '')
