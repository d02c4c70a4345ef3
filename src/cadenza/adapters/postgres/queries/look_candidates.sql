clock AS MATERIALIZED (
    SELECT cadenza_now() AS now
),
-- Jobs in which something has happened since: by index, however many endpoints there are.
stirred AS MATERIALIZED (
    SELECT job_id FROM endpoints WHERE last_finished_at > $6
    UNION
    SELECT job_id FROM endpoints WHERE asked_at > $6
    UNION
    SELECT id FROM jobs WHERE $6 = '-infinity'::timestamptz
),
candidates AS (
    SELECT e.id, e.job_id, e.last_finished_at, e.last_failed_at, e.changed_at, e.asked_at,
           look.looked_at, look.next_analysis_at,
           coalesce(look.looked_at, '-infinity') AS seen_at,
           look.leased_until,
           max(e.last_finished_at) OVER (PARTITION BY e.job_id) AS job_finished_at
    FROM stirred
    JOIN jobs AS job ON job.id = stirred.job_id
    JOIN tenants AS tenant ON tenant.id = job.tenant_id
    JOIN endpoints AS e ON e.job_id = stirred.job_id AND e.archived_at IS NULL
    LEFT JOIN looks AS look ON look.endpoint_id = e.id AND look.brain = $2
    WHERE job.tenant_id <> ALL ($5::uuid[])
      AND coalesce(
              job.planner_mode,
              CASE WHEN $2 = 'llm' THEN tenant.llm_mode ELSE tenant.rules_mode END
          ) <> 'off'
)