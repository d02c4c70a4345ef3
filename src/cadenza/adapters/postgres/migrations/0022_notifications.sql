-- Incidents, whom they are told to, and events that are sent on.

CREATE TABLE incidents (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    kind text NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    job_id uuid,
    endpoint_id uuid,
    level integer NOT NULL CHECK (level > 0),
    severity text NOT NULL CHECK (severity IN ('info', 'warning', 'error', 'critical')),
    measure integer NOT NULL,
    detail text NOT NULL DEFAULT '',
    times integer NOT NULL DEFAULT 1,
    opened_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    ends_at timestamptz,
    acknowledged_at timestamptz,
    acknowledged_by text,
    resolved_at timestamptz,
    resolved_by text,
    CONSTRAINT who_resolved_it_is_known CHECK ((resolved_at IS NULL) = (resolved_by IS NULL))
);
CREATE UNIQUE INDEX one_incident_is_open ON incidents (tenant_id, kind, subject)
    WHERE resolved_at IS NULL;
CREATE INDEX incidents_of_subject ON incidents (tenant_id, kind, subject, resolved_at);
CREATE INDEX incidents_of_tenant ON incidents (tenant_id, opened_at, id);
CREATE INDEX incidents_by_age ON incidents (resolved_at);

CREATE TABLE notification_channels (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name text NOT NULL,
    service text NOT NULL,
    shown text NOT NULL,
    sealed text NOT NULL,
    enabled boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT cadenza_now(),
    failing_since timestamptz,
    failures integer NOT NULL DEFAULT 0,
    last_error text,
    last_sent_at timestamptz,
    UNIQUE (tenant_id, id)
);
CREATE UNIQUE INDEX one_channel_has_a_name ON notification_channels (tenant_id, name);
CREATE INDEX channels_that_fail ON notification_channels (failing_since)
    WHERE failing_since IS NOT NULL;

CREATE TABLE notification_routes (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    channel_id uuid NOT NULL,
    job_id uuid,
    kinds text[] NOT NULL DEFAULT '{}',
    min_severity text NOT NULL,
    quiet_from time,
    quiet_to time,
    quiet_timezone text,
    critical_passes boolean NOT NULL DEFAULT false,
    group_ms bigint NOT NULL,
    cooldown_ms bigint NOT NULL,
    tells_recovery boolean NOT NULL DEFAULT true,
    enabled boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT cadenza_now(),
    FOREIGN KEY (tenant_id, channel_id) REFERENCES notification_channels (tenant_id, id)
        ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, job_id) REFERENCES jobs (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT quiet_hours_are_whole
        CHECK (num_nulls(quiet_from, quiet_to, quiet_timezone) IN (0, 3))
);
CREATE INDEX routes_of_tenant ON notification_routes (tenant_id, created_at);
CREATE INDEX routes_of_channel ON notification_routes (channel_id);
CREATE INDEX routes_of_job ON notification_routes (job_id) WHERE job_id IS NOT NULL;

-- What each route has told of each subject, and when it is to tell more.
CREATE TABLE announcements (
    route_id uuid NOT NULL REFERENCES notification_routes ON DELETE CASCADE,
    kind text NOT NULL,
    subject text NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    incident_id uuid NOT NULL REFERENCES incidents ON DELETE CASCADE,
    told jsonb NOT NULL DEFAULT '{}',
    told_state text,
    due_at timestamptz,
    not_before_at timestamptz,
    changed_at timestamptz NOT NULL DEFAULT cadenza_now(),
    PRIMARY KEY (route_id, kind, subject)
);
CREATE INDEX announcements_due ON announcements (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX announcements_of_incident ON announcements (incident_id);
CREATE INDEX announcements_by_age ON announcements (changed_at);

CREATE TABLE event_subscriptions (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name text NOT NULL,
    url text NOT NULL,
    kinds text[] NOT NULL CHECK (cardinality(kinds) > 0),
    job_id uuid,
    enabled boolean NOT NULL DEFAULT true,
    disabled_reason text,
    failing_since timestamptz,
    last_error text,
    last_sent_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT cadenza_now(),
    UNIQUE (tenant_id, id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES jobs (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX one_webhook_has_a_name ON event_subscriptions (tenant_id, name);
CREATE INDEX webhooks_that_fail ON event_subscriptions (id)
    WHERE disabled_reason IS NOT NULL;
CREATE INDEX webhooks_of_job ON event_subscriptions (job_id) WHERE job_id IS NOT NULL;

-- The outbox: what is to be sent, and the log of what was.
CREATE TABLE deliveries (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('notification', 'event', 'test')),
    channel_id uuid,
    subscription_id uuid,
    title text NOT NULL,
    payload json NOT NULL,
    status text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'delivered', 'failed')),
    created_at timestamptz NOT NULL DEFAULT cadenza_now(),
    due_at timestamptz NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    leased_by text,
    error text,
    status_code integer,
    finished_at timestamptz,
    CONSTRAINT it_goes_to_one CHECK (num_nonnulls(channel_id, subscription_id) = 1),
    FOREIGN KEY (tenant_id, channel_id) REFERENCES notification_channels (tenant_id, id)
        ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, subscription_id) REFERENCES event_subscriptions (tenant_id, id)
        ON DELETE CASCADE
);
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE status = 'waiting';
CREATE INDEX deliveries_by_receiver ON deliveries
    ((coalesce(channel_id, subscription_id)), due_at) WHERE status = 'waiting';
CREATE INDEX deliveries_of_tenant ON deliveries (tenant_id, created_at, id);
CREATE INDEX deliveries_failed ON deliveries (tenant_id, created_at, id) WHERE status = 'failed';
CREATE INDEX deliveries_of_channel ON deliveries (channel_id, created_at)
    WHERE channel_id IS NOT NULL;
CREATE INDEX deliveries_of_subscription ON deliveries (subscription_id, created_at)
    WHERE subscription_id IS NOT NULL;
CREATE INDEX deliveries_by_age ON deliveries (created_at);

-- Up to where events have been looked at by notifiers: from here on, nothing of the past.
CREATE TABLE notifier_position (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    xact xid8 NOT NULL,
    id bigint NOT NULL
);
INSERT INTO notifier_position (xact, id) VALUES (pg_current_xact_id(), 0);
CREATE INDEX events_in_order ON events (xact, id);

-- What is not as it should be right now, wherever an incident may be made of it.
CREATE INDEX endpoints_failing ON endpoints (id) WHERE failure_count > 0;
CREATE INDEX endpoints_held_by_planner ON endpoints (id)
    WHERE planner_paused_until IS NOT NULL;
CREATE VIEW incident_conditions AS
SELECT e.tenant_id, 'failing' AS kind, e.id::text AS subject, e.job_id, e.id AS endpoint_id,
       (SELECT job.name FROM jobs AS job WHERE job.id = e.job_id) || '/' || e.name AS name,
       coalesce(e.streak_changed_at, e.last_failed_at, e.created_at) AS since,
       e.failure_count AS measure, '' AS detail
FROM endpoints AS e
WHERE e.failure_count > 0 AND e.archived_at IS NULL
UNION ALL
SELECT e.tenant_id, 'late', e.id::text, e.job_id, e.id,
       (SELECT job.name FROM jobs AS job WHERE job.id = e.job_id) || '/' || e.name,
       e.next_run_at, 1, ''
FROM tenants AS t  -- their endpoints are in an index by the next run
JOIN endpoints AS e ON e.tenant_id = t.id
WHERE e.next_run_at < (SELECT cadenza_now()) - interval '1 minute'
  AND e.running_slot_at IS NULL AND e.archived_at IS NULL
UNION ALL
SELECT e.tenant_id, 'planner-pause', e.id::text, e.job_id, e.id,
       (SELECT job.name FROM jobs AS job WHERE job.id = e.job_id) || '/' || e.name,
       coalesce(e.steered_at, e.created_at), 1, coalesce(e.planner_pause_reason, '')
FROM endpoints AS e
WHERE e.planner_paused_until IS NOT NULL  -- which says how few there are
  AND e.planner_paused_until > (SELECT cadenza_now()) AND e.archived_at IS NULL
UNION ALL
SELECT e.tenant_id, 'suggestion', e.id::text, e.job_id, e.id,
       (SELECT job.name FROM jobs AS job WHERE job.id = e.job_id) || '/' || e.name,
       waiting.since, 1, ''
FROM (
    SELECT s.endpoint_id, min(s.started_at) AS since
    FROM analysis_sessions AS s
    WHERE s.suggests_until > (SELECT cadenza_now())
      AND EXISTS (
          SELECT FROM jsonb_array_elements(s.tool_calls) AS call
          WHERE can_be_accepted(call, (SELECT cadenza_now()))
      )
    GROUP BY s.endpoint_id
) AS waiting
JOIN endpoints AS e ON e.id = waiting.endpoint_id
WHERE e.archived_at IS NULL
UNION ALL
SELECT g.tenant_id, 'grant-expiring', g.id::text, NULL, g.endpoint_id,
       array_to_string(g.scopes, ', '), g.expiry_notice_at,
       CASE WHEN g.expires_at <= (SELECT cadenza_now()) THEN 2 ELSE 1 END, ''
FROM execution_grants AS g
WHERE g.expiry_notice_at <= (SELECT cadenza_now())
  AND g.revoked_at IS NULL
  AND g.expires_at > (SELECT cadenza_now()) - interval '7 days'
UNION ALL
-- Workers belong to the installation: its first tenant is told. One that another of its kind has
-- followed is missed by nobody.
SELECT (SELECT t.id FROM tenants AS t ORDER BY t.created_at, t.id LIMIT 1), 'worker-lost', w.name,
       NULL, NULL, w.kind || ' ' || w.name, w.seen_at, 1, ''
FROM workers AS w
WHERE w.seen_at < (SELECT cadenza_now()) - interval '30 seconds'
  AND EXISTS (SELECT FROM tenants)
  AND NOT EXISTS (
      SELECT FROM workers AS other
      WHERE other.kind = w.kind AND other.started_at > w.seen_at
        AND other.seen_at > (SELECT cadenza_now()) - interval '15 seconds'
  )
UNION ALL
SELECT c.tenant_id, 'channel-failing', c.id::text, NULL, NULL, c.name, c.failing_since, 1,
       coalesce(c.last_error, '')
FROM notification_channels AS c
WHERE c.failing_since < (SELECT cadenza_now()) - interval '5 minutes' AND c.enabled
UNION ALL
SELECT s.tenant_id, 'webhook-disabled', s.id::text, NULL, NULL, s.name,
       coalesce(s.failing_since, s.created_at), 1, s.disabled_reason
FROM event_subscriptions AS s
WHERE s.disabled_reason IS NOT NULL;
