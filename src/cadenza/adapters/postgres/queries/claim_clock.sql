clock AS MATERIALIZED (SELECT cadenza_now() AS now)
