asked_for_now AS MATERIALIZED (
    SELECT e.id, e.tenant_id, e.host, e.manual_slot_at AS slot_at
    FROM endpoints AS e
    WHERE e.manual_slot_at IS NOT NULL
      AND e.running_run_id IS NULL
      AND e.archived_at IS NULL
      AND e.tenant_id <> ALL ($10::uuid[])
      AND e.host <> ALL ($11::text[])
    ORDER BY e.manual_slot_at
    LIMIT $1
    FOR UPDATE OF e SKIP LOCKED
),
found AS (
    SELECT * FROM candidates
    UNION ALL
    SELECT * FROM asked_for_now
),
ranked AS (
    SELECT
        found.*,
        row_number() OVER (PARTITION BY found.tenant_id ORDER BY found.slot_at, found.id)
            + coalesce(busy_tenant.count, 0) AS tenant_rank,
        row_number() OVER (PARTITION BY found.host ORDER BY found.slot_at, found.id)
            + coalesce(busy_host.count, 0) AS host_rank
    FROM found
    LEFT JOIN unnest($6::uuid[], $7::integer[]) AS busy_tenant (id, count)
        ON busy_tenant.id = found.tenant_id
    LEFT JOIN unnest($8::text[], $9::integer[]) AS busy_host (name, count)
        ON busy_host.name = found.host
),
picked AS (
    SELECT chosen.id, chosen.slot_at, row_number() OVER () AS number
    FROM (
        SELECT ranked.id, ranked.slot_at
        FROM ranked
        WHERE ranked.tenant_rank <= ($12::integer[])[1] AND ranked.host_rank <= ($12::integer[])[2]
        ORDER BY ranked.tenant_rank, ranked.slot_at
        LIMIT $1
    ) AS chosen
),
{lease_picked},
meta AS MATERIALIZED (
    SELECT
        clock.now,
        (SELECT count(*) FROM found) AS found_count,
        (SELECT min(later.next_run_at) FROM endpoints AS later
          WHERE later.next_run_at > clock.now + $3) AS next_due_at
    FROM clock
)
