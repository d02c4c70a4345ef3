-- Hints and pauses as they were. What ends by itself is never written: its end is past.

-- name: note_steering
-- What transitions did: a row that stands is lengthened or ended, and a new one begun.
--   $1 .. $14 a row for each change  $15 who ends what stands  $16 their user  $17 their session
WITH clock AS MATERIALIZED (SELECT cadenza_now() AS now),
change AS (
    SELECT *
    FROM unnest(
        $1::uuid[], $2::uuid[], $3::text[], $4::boolean[], $5::timestamptz[], $6::bigint[],
        $7::timestamptz[], $8::boolean[], $9::text[], $10::uuid[], $11::text[], $12::uuid[],
        $13::uuid[], $14::text[]
    ) AS change (
        tenant_id, endpoint_id, kind, renews, until_at, interval_ms, run_at, tightens, author,
        user_id, brain, rule_id, session_id, reason
    )
),
renewed AS (
    UPDATE steering_history AS standing
    SET until_at = change.until_at, reason = change.reason, renewals = standing.renewals + 1
    FROM change, clock
    WHERE change.renews
      AND standing.endpoint_id = change.endpoint_id
      AND standing.kind = change.kind
      AND standing.until_at > clock.now
    RETURNING standing.endpoint_id, standing.kind
),
ended AS (
    UPDATE steering_history AS standing
    SET until_at = clock.now, planned_until_at = standing.until_at,
        ended_as = CASE WHEN change.until_at IS NULL THEN 'cleared' ELSE 'replaced' END,
        ended_by = $15, ended_by_user_id = $16, ended_by_session_id = $17
    FROM change, clock
    WHERE NOT change.renews
      AND standing.endpoint_id = change.endpoint_id
      AND standing.kind = change.kind
      AND standing.until_at > clock.now
)
INSERT INTO steering_history (
    tenant_id, endpoint_id, kind, begun_at, until_at, interval_ms, run_at, tightens, author,
    user_id, brain, rule_id, session_id, reason
)
SELECT change.tenant_id, change.endpoint_id, change.kind, clock.now, change.until_at,
       change.interval_ms, change.run_at, change.tightens, change.author, change.user_id,
       change.brain, change.rule_id, change.session_id, change.reason
FROM change, clock
WHERE change.until_at IS NOT NULL
  AND NOT EXISTS (
      SELECT FROM renewed
      WHERE renewed.endpoint_id = change.endpoint_id AND renewed.kind = change.kind
  )

-- name: search_steering
-- Hints and pauses of a tenant, of an endpoint or of a job's endpoints, newest first.
--   $1 tenant  $2 endpoint  $3 job  $4 from  $5, $6 begin and id of the last one before
--   $7 how many  $8 only of these jobs
SELECT h.*, setter.name AS user_name, ender.name AS ended_by_name
FROM steering_history AS h
LEFT JOIN users AS setter ON setter.id = h.user_id
LEFT JOIN users AS ender ON ender.id = h.ended_by_user_id
WHERE h.tenant_id = $1
  AND ($2::uuid IS NULL OR h.endpoint_id = $2)
  AND ($3::uuid IS NULL OR h.endpoint_id IN (
      SELECT id FROM endpoints WHERE tenant_id = $1 AND job_id = $3
  ))
  AND ($8::uuid[] IS NULL OR h.endpoint_id IN (
      SELECT id FROM endpoints WHERE tenant_id = $1 AND job_id = ANY ($8)
  ))
  AND h.begun_at >= coalesce($4::timestamptz, '-infinity')
  AND (h.begun_at, h.id) < (coalesce($5::timestamptz, 'infinity'),
                            coalesce($6::bigint, 9223372036854775807))
ORDER BY h.begun_at DESC, h.id DESC
LIMIT $7

-- name: steering_between
-- What touches a time, of each of these endpoints.
--   $1 endpoints  $2 from  $3 to  $4 how many of each
SELECT h.*, setter.name AS user_name, ender.name AS ended_by_name
FROM unnest($1::uuid[]) AS own (id)
CROSS JOIN LATERAL (
    SELECT *
    FROM steering_history
    WHERE endpoint_id = own.id AND until_at > $2 AND begun_at < $3
    ORDER BY until_at
    LIMIT $4
) AS h
LEFT JOIN users AS setter ON setter.id = h.user_id
LEFT JOIN users AS ender ON ender.id = h.ended_by_user_id
ORDER BY h.begun_at, h.id
