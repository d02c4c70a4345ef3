FROM endpoints AS e
WHERE e.tenant_id = $1
  AND ($2::uuid IS NULL OR e.job_id = $2)
  AND ($3::text IS NULL OR e.name = $3)
  AND ($4::text IS NULL OR e.name ILIKE $4 OR e.target ->> 'url' ILIKE $4)
  AND CASE $5::text
          WHEN 'archived' THEN e.archived_at IS NOT NULL
          WHEN 'paused' THEN e.archived_at IS NULL AND greatest(
              e.person_paused_until, e.planner_paused_until, e.job_paused_until) > cadenza_now()
          WHEN 'failing' THEN e.archived_at IS NULL AND e.failure_count > 0
          WHEN 'active' THEN e.archived_at IS NULL AND coalesce(greatest(
              e.person_paused_until, e.planner_paused_until, e.job_paused_until),
              '-infinity') <= cadenza_now()
          ELSE e.archived_at IS NULL
      END
