-- One change of a tenant's keys at a time; also tells the time.
SELECT cadenza_now() AS now FROM tenants WHERE id = $1 FOR NO KEY UPDATE
