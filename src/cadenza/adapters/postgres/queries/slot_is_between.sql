r.slot_at >= coalesce($3::timestamptz, '-infinity')
      -- said twice: whole days are left out by the first, the last page's end is found by the second
      AND r.slot_at <= coalesce($4::timestamptz, 'infinity')
      AND (r.slot_at, r.id) < (
          coalesce($4::timestamptz, 'infinity'),
          coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      )
