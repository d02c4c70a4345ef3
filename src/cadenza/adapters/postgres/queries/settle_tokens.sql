-- Turn what was set aside into what was used.
UPDATE quotas
SET reserved = greatest(0, reserved - $3), used = used + $4
WHERE tenant_id = $1 AND month = $2
