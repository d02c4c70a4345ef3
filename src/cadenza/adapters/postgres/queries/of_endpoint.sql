WHERE r.tenant_id = $1
          AND r.endpoint_id = own.id
          AND {slot_is_between}
        ORDER BY r.slot_at DESC
        LIMIT $6
