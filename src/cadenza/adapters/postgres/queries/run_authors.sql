-- Who asked for runs that the baseline did not choose.

-- name: note_asked_run
-- A person asks for a run now; asking again before it began is asking for the same.
INSERT INTO asked_runs (tenant_id, endpoint_id, slot_at, user_id)
SELECT e.tenant_id, e.id, $2, $3 FROM endpoints AS e WHERE e.id = $1
ON CONFLICT (endpoint_id, slot_at) DO NOTHING

-- name: authors_of_runs
-- Of each of these slots: who asked by hand, or whose hint of that kind was in force.
--   $1 endpoints  $2 slots  $3 kinds, all of one length; as subqueries, so that their length does
--   not have every page planned anew, which takes longer than to answer it
SELECT wanted.endpoint_id, wanted.slot_at, by.author, by.brain, by.rule_id, by.user_id,
       by.session_id, by.reason, by.tightens, person.name AS user_name,
       (SELECT rule ->> 'name'
        FROM endpoints AS e
        JOIN jobs AS job ON job.id = e.job_id
        CROSS JOIN LATERAL jsonb_array_elements(job.rules) AS rule
        WHERE e.id = wanted.endpoint_id AND rule ->> 'id' = by.rule_id::text
        LIMIT 1) AS rule_name
FROM unnest(
    (SELECT $1::uuid[]), (SELECT $2::timestamptz[]), (SELECT $3::text[])
) AS wanted (endpoint_id, slot_at, kind)
CROSS JOIN LATERAL (
    (SELECT h.author, h.brain, h.rule_id, h.user_id, h.session_id, h.reason, h.tightens
     FROM steering_history AS h
     WHERE wanted.kind <> 'manual'
       AND h.endpoint_id = wanted.endpoint_id
       AND h.until_at >= wanted.slot_at
       AND h.begun_at <= wanted.slot_at
       AND h.kind = wanted.kind
     ORDER BY h.until_at
     LIMIT 1)
    UNION ALL
    SELECT 'person', NULL, NULL, a.user_id, NULL, '', NULL
    FROM asked_runs AS a
    WHERE wanted.kind = 'manual'
      AND a.endpoint_id = wanted.endpoint_id
      AND a.slot_at = wanted.slot_at
) AS by
LEFT JOIN users AS person ON person.id = by.user_id

-- name: asked_between
-- Runs by hand of these endpoints, the newest first.
--   $1 endpoints  $2 from  $3 to  $4 how many
SELECT a.endpoint_id, a.slot_at, a.user_id, person.name AS user_name
FROM asked_runs AS a
LEFT JOIN users AS person ON person.id = a.user_id
WHERE a.endpoint_id = ANY ($1::uuid[]) AND a.slot_at >= $2 AND a.slot_at < $3
ORDER BY a.slot_at DESC
LIMIT $4
