clock AS MATERIALIZED (SELECT '-infinity'::timestamptz AS begin, cadenza_now() AS now)
