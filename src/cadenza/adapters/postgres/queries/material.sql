-- Everything a brain is shown about each of these endpoints, in one go.
SELECT
    cadenza_now() AS now, {endpoint_columns}, e.plan, e.looked_at, e.last_reasoning,
    job.name AS job_name, job.description AS job_description,
    job.paused_until AS job_pause, job.archived_at AS job_archived_at,
    siblings.names AS sibling_names,
    health.*
FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, place)
JOIN endpoints AS e ON e.id = wanted.id
JOIN jobs AS job ON job.id = e.job_id
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(sibling.name ORDER BY sibling.name), '{}') AS names
    FROM endpoints AS sibling
    WHERE sibling.job_id = e.job_id AND sibling.id <> e.id AND sibling.archived_at IS NULL
) AS siblings
CROSS JOIN LATERAL (
    {health_windows}
) AS health
ORDER BY wanted.place
