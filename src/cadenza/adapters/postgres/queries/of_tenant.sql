WHERE r.tenant_id = $1
      AND {slot_is_between}
    ORDER BY r.slot_at DESC, r.id DESC
    LIMIT $6
