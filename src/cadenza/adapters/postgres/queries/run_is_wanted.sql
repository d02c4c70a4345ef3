(
    ($2::uuid[] IS NULL OR r.endpoint_id = ANY ($2))
    AND ($8::text[] IS NULL OR r.status = ANY ($8))
    AND ($9::text[] IS NULL OR r.source = ANY ($9))
    AND ($10::boolean IS NULL OR r.is_manual = $10)
)
