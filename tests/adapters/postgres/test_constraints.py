"""What must never be true is refused by the database itself, whoever writes it."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.maintenance import Maintenance
from tests.factories import id_of, minutes
from tests.postgres import migrated_database_url

TENANT, JOB, ENDPOINT, RUN = (id_of(name) for name in ("tenant", "job", "probe", "run"))
Connection = asyncpg.Connection


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """One database for all of them: what a test writes, it takes back."""
    database = migrated_database_url()
    with asyncio.Runner() as runner:
        url = runner.run(database.__aenter__())
        runner.run(_fill(url))
        yield url
        runner.run(database.__aexit__(None, None, None))


async def _fill(url: str) -> None:
    database = await open_database(url, connections=2)
    async with database.connection() as connection:
        await connection.execute("INSERT INTO tenants (id, name) VALUES ($1, 'one')", TENANT)
        await connection.execute(
            "INSERT INTO jobs (id, tenant_id, name) VALUES ($1, $2, 'watch')", JOB, TENANT
        )
        await connection.execute(
            "INSERT INTO endpoints (id, tenant_id, job_id, name, created_at, target)"
            " VALUES ($1, $2, $3, 'probe', now(), '{}')",
            ENDPOINT,
            TENANT,
            JOB,
        )
    await Maintenance(database, minutes(60 * 24 * 30)).run_once()
    await database.close()


@pytest.fixture
async def connection(url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(url)
    transaction = connection.transaction()
    await transaction.start()
    try:
        yield connection
    finally:
        await transaction.rollback()
        await connection.close()


# What an UPDATE of an endpoint must not lead to, and the constraint that stops it.
NEVER_AN_ENDPOINT = {
    "two baselines": (
        "baseline_interval_ms = 1000, baseline_cron = '* * * * *', timezone = 'UTC'",
        "one_baseline",
    ),
    "a cron without a zone": ("baseline_cron = '* * * * *'", "cron_has_a_zone"),
    "a zone without a cron": ("timezone = 'Europe/Paris'", "cron_has_a_zone"),
    "min above max": (
        "min_interval_ms = 60001, max_interval_ms = 60000",
        "min_is_not_above_max",
    ),
    "an interval of nothing": ("baseline_interval_ms = 0", "baseline_interval_ms_check"),
    "a negative min": ("min_interval_ms = -1", "min_interval_ms_check"),
    "a max of nothing": ("max_interval_ms = 0", "max_interval_ms_check"),
    "a hinted interval of nothing": (
        "hint_interval_ms = 0, hint_interval_expires_at = now(), hint_interval_author = 'person'",
        "hint_interval_ms_check",
    ),
    "an interval hint without an expiry": (
        "hint_interval_ms = 1000, hint_interval_author = 'planner'",
        "a_hint_expires",
    ),
    "an interval hint without an author": (
        "hint_interval_ms = 1000, hint_interval_expires_at = now()",
        "a_hint_expires",
    ),
    "the expiry of no hint": ("hint_interval_expires_at = now()", "a_hint_expires"),
    "a one-shot without an expiry": (
        "hint_run_at = now(), hint_run_author = 'planner'",
        "a_hint_expires",
    ),
    "a one-shot without an author": (
        "hint_run_at = now(), hint_run_expires_at = now()",
        "a_hint_expires",
    ),
    "a hint by somebody unknown": (
        "hint_run_at = now(), hint_run_expires_at = now(), hint_run_author = 'nobody'",
        "hint_run_author_check",
    ),
    "an interval hint by somebody unknown": (
        "hint_interval_ms = 1, hint_interval_expires_at = now(), hint_interval_author = ''",
        "hint_interval_author_check",
    ),
    "fewer than no failures": ("failure_count = -1", "failure_count_check"),
    "a next run from nowhere": ("next_run_at = now()", "a_next_run_has_a_source"),
    "a lease without an epoch": (
        "lease_until = now(), running_run_id = id, running_slot_at = now(),"
        " running_attempt = 1, running_claimed_at = now()",
        "a_lease_has_an_epoch",
    ),
    "a start without a run": ("running_started_at = now()", "a_start_has_a_run"),
    "a lease without a run": ("lease_until = now(), lease_epoch = 1", "a_lease_has_a_run"),
    "a run in flight without its slot": (
        "running_run_id = id, running_attempt = 1, running_claimed_at = now()",
        "a_run_in_flight_is_whole",
    ),
    "a run in flight without its attempt": (
        "running_run_id = id, running_slot_at = now(), running_claimed_at = now()",
        "a_run_in_flight_is_whole",
    ),
    "a secret header that can be read": (
        """secret_headers = '{"Authorization": "hunter2"}'""",
        "secret_headers_are_sealed",
    ),
    "the job of nobody": ("job_id = id", "endpoints_job_id_fkey"),
    "the tenant of nobody": ("tenant_id = id", "endpoints_tenant_id_fkey"),
}


@pytest.mark.parametrize("what", NEVER_AN_ENDPOINT)
async def test_an_endpoint_never_has(connection: Connection, what: str) -> None:
    change, constraint = NEVER_AN_ENDPOINT[what]
    with pytest.raises(asyncpg.IntegrityConstraintViolationError) as refused:
        await connection.execute(f"UPDATE endpoints SET {change}")
    assert refused.value.constraint_name in (constraint, f"endpoints_{constraint}")


NEVER_A_RUN = {
    "an unknown status": ("status = 'lost', finished_at = now()", "runs_status_check"),
    "a terminal status without its end": ("status = 'success'", "what_has_ended_says_when"),
    "an end while it runs": ("finished_at = now()", "what_has_ended_says_when"),
    "no attempt": ("attempt = 0", "runs_attempt_check"),
    "no epoch": ("epoch = 0", "runs_epoch_check"),
}


@pytest.mark.parametrize("what", NEVER_A_RUN)
async def test_a_run_never_has(connection: Connection, what: str) -> None:
    change, constraint = NEVER_A_RUN[what]
    await record_run(connection, "now()")
    with pytest.raises(asyncpg.CheckViolationError) as refused:
        await connection.execute(f"UPDATE runs SET {change}")
    assert refused.value.constraint_name == constraint


async def record_run(
    connection: Connection, slot_at: str, table: str = "runs", run_id: object = RUN
) -> None:
    await connection.execute(
        f"INSERT INTO {table} (id, endpoint_id, tenant_id, slot_at, source, status, attempt, epoch,"
        f" claimed_at) VALUES ($1, $2, $3, {slot_at}, 'manual', 'running', 1, 1, now())",
        run_id,
        ENDPOINT,
        TENANT,
    )


@pytest.mark.parametrize(
    ("slot_at", "partition"),
    [
        ("now()", "a day"),
        ("now() + interval '6 days'", "a day"),
        ("timestamptz '2000-01-01 12:00Z'", "runs_default"),
        ("timestamptz '2100-01-01 12:00Z'", "runs_default"),
    ],
)
async def test_a_slot_has_one_run_for_ever(
    connection: Connection, slot_at: str, partition: str
) -> None:
    await record_run(connection, slot_at)
    where = await connection.fetchval("SELECT tableoid::regclass::text FROM runs")
    assert (where == "runs_default") == (partition == "runs_default")
    for table in ("runs", where):
        with pytest.raises(asyncpg.UniqueViolationError):
            async with connection.transaction():
                await record_run(connection, slot_at, table, id_of("another run"))


async def test_a_slot_cannot_hide_in_another_partition(connection: Connection) -> None:
    await record_run(connection, "now()")
    where = await connection.fetchval("SELECT tableoid::regclass::text FROM runs")
    others = await connection.fetch(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits"
        " WHERE inhparent = 'runs'::regclass AND inhrelid::regclass::text <> $1",
        where,
    )
    assert "runs_default" in {row["name"] for row in others}
    for row in others:
        with pytest.raises(asyncpg.CheckViolationError, match="violates partition constraint"):
            async with connection.transaction():
                await record_run(connection, "now()", row["name"])


NEW_KEY = (
    "WITH a_user AS (INSERT INTO users (id, tenant_id, name) SELECT id, id, 'u' FROM tenants"
    " RETURNING id, tenant_id)"
    " INSERT INTO api_keys (id, tenant_id, user_id, name, scopes, hash)"
    " SELECT id, tenant_id, id, 'k',"
)
NEW_VIRTUAL_KEY = (
    "INSERT INTO virtual_keys (id, tenant_id, account_id, name, base_url, api, sealed, revoked_at)"
    " SELECT id, id, id, 'main', 'http://models.example',"
)
NEW_CHARGE = (
    "INSERT INTO charges (reference, tenant_id, account_id, run_id, model, input_tokens,"
    " output_tokens, cache_read_tokens, cache_write_tokens, credits, basis)"
    " SELECT 'a/1/1', id, id, id, 'model',"
)
STEERED = (
    "INSERT INTO steering_history (tenant_id, endpoint_id, until_at, kind, author, interval_ms,"
    " run_at, planned_until_at, ended_as, ended_by)"
)
NEW_INCIDENT = (
    "INSERT INTO incidents (id, tenant_id, kind, subject, name, measure, opened_at, updated_at,"
    " level, severity, resolved_at, resolved_by) SELECT id, id, 'late', 'a', 'a', 1, now(), now(),"
)
NEW_DELIVERY = (
    "INSERT INTO deliveries (id, tenant_id, title, payload, due_at, kind, status, channel_id)"
    " SELECT id, id, 'a', '{}', now(),"
)
NEVER_ELSEWHERE = {
    "a user of an unknown role": (
        "INSERT INTO users (id, tenant_id, name, role) SELECT id, id, 'u', 'king' FROM tenants",
        "users_role_check",
    ),
    "an owner of a single job": (
        "WITH a_user AS (INSERT INTO users (id, tenant_id, name) SELECT id, id, 'u' FROM tenants"
        " RETURNING id, tenant_id)"
        " INSERT INTO job_roles SELECT tenant_id, id, id, 'king' FROM a_user",
        "job_roles_role_check",
    ),
    "an invitation of an unknown role": (
        "INSERT INTO invitations (id, tenant_id, email, role, hash, invited_by, created_at,"
        " expires_at) SELECT id, id, 'a@b', 'king', 'h', 'me', now(), now() FROM tenants",
        "invitations_role_check",
    ),
    "a result that is neither good nor bad": (
        "INSERT INTO awaited_results (run_id, attempt, tenant_id, endpoint_id, token_hash,"
        " reported_at, status) SELECT id, 1, id, id, 'h', now(), 'timeout' FROM tenants",
        "awaited_results_status_check",
    ),
    "a result that was never reported": (
        "INSERT INTO awaited_results (run_id, attempt, tenant_id, endpoint_id, token_hash, status)"
        " SELECT id, 1, id, id, 'h', 'success' FROM tenants",
        "a_report_says_how_it_went",
    ),
    "a look that failed less than never": (
        "INSERT INTO looks (endpoint_id, brain, failed_looks) SELECT id, 'llm', -1 FROM endpoints",
        "looks_failed_looks_check",
    ),
    "a quota of a job for a day that is none": (
        "INSERT INTO job_quotas (tenant_id, job_id, day) SELECT tenant_id, id, 'May' FROM jobs",
        "job_quotas_day_check",
    ),
    "a quota of a job with less than nothing used": (
        "INSERT INTO job_quotas (tenant_id, job_id, day, used)"
        " SELECT tenant_id, id, '2026-03-02', -1 FROM jobs",
        "job_quotas_used_check",
    ),
    "a quota of a job with less than nothing reserved": (
        "INSERT INTO job_quotas (tenant_id, job_id, day, reserved)"
        " SELECT tenant_id, id, '2026-03-02', -1 FROM jobs",
        "job_quotas_reserved_check",
    ),
    "a quota of a job with less than nothing cost used": (
        "INSERT INTO job_quotas (tenant_id, job_id, day, cost_used)"
        " SELECT tenant_id, id, '2026-03-02', -1 FROM jobs",
        "job_quotas_cost_used_check",
    ),
    "a quota of a job with less than nothing cost reserved": (
        "INSERT INTO job_quotas (tenant_id, job_id, day, cost_reserved)"
        " SELECT tenant_id, id, '2026-03-02', -1 FROM jobs",
        "job_quotas_cost_reserved_check",
    ),
    "a failed run that went well": (
        "INSERT INTO failed_runs SELECT tenant_id, id, now(), id, 'manual', 'success', true"
        " FROM endpoints",
        "failed_runs_status_check",
    ),
    "a count of nothing": (
        "INSERT INTO run_counts SELECT id, now(), 'success', 0 FROM tenants",
        "run_counts_runs_check",
    ),
    "a look under way by nobody": (
        "INSERT INTO looks (endpoint_id, brain, leased_until)"
        " SELECT id, 'rules', now() FROM endpoints",
        "a_look_under_way_has_a_planner",
    ),
    "a tenant that keeps nothing": (
        "UPDATE tenants SET retention_days = 0",
        "tenants_retention_days_check",
    ),
    "a tenant that keeps for ever": (
        "UPDATE tenants SET retention_days = 3651",
        "tenants_retention_days_check",
    ),
    "a month that is none": (
        "INSERT INTO quotas (tenant_id, month) SELECT id, 'May' FROM tenants",
        "quotas_month_check",
    ),
    "less than nothing used": (
        "INSERT INTO quotas (tenant_id, month, used) SELECT id, '2026-03', -1 FROM tenants",
        "quotas_used_check",
    ),
    "less than nothing reserved": (
        "INSERT INTO quotas (tenant_id, month, reserved) SELECT id, '2026-03', -1 FROM tenants",
        "quotas_reserved_check",
    ),
    "less than no money used": (
        "INSERT INTO quotas (tenant_id, month, cost_used) SELECT id, '2026-03', -1 FROM tenants",
        "quotas_cost_used_check",
    ),
    "less than no money reserved": (
        "INSERT INTO quotas (tenant_id, month, cost_reserved)"
        " SELECT id, '2026-03', -1 FROM tenants",
        "quotas_cost_reserved_check",
    ),
    "a reservation of less than nothing": (
        "INSERT INTO quota_reservations (id, tenant_id, month, tokens)"
        " SELECT id, id, '2026-03', -1 FROM tenants",
        "quota_reservations_tokens_check",
    ),
    "a reservation of less than no money": (
        "INSERT INTO quota_reservations (id, tenant_id, month, tokens, cost)"
        " SELECT id, id, '2026-03', 1, -1 FROM tenants",
        "quota_reservations_cost_check",
    ),
    "a signing key that can be read": (
        "INSERT INTO signing_keys SELECT id, id, 'hunter2', now() FROM tenants",
        "a_signing_key_is_sealed",
    ),
    "a key that ended before it began": (
        "INSERT INTO signing_keys"
        " SELECT id, id, 'v1:x:y', now(), now() - interval '1 s' FROM tenants",
        "a_key_ends_after_it_began",
    ),
    "two signing keys without an end": (
        "INSERT INTO signing_keys SELECT gen_random_uuid(), id, 'v1:x:y', now()"
        " FROM tenants, generate_series(1, 2)",
        "one_signing_key_has_no_end",
    ),
    "a key that may do nothing": (
        f"{NEW_KEY} '{{}}', sha256('a') FROM a_user",
        "a_key_may_do_something",
    ),
    "a key that may do what nobody knows": (
        f"{NEW_KEY} '{{root}}', sha256('a') FROM a_user",
        "a_key_may_do_something",
    ),
    "a key that is not hashed": (
        f"{NEW_KEY} '{{read}}', 'cdz_plain' FROM a_user",
        "a_key_is_hashed",
    ),
    "an endpoint in a job of another tenant": (
        "WITH other AS (INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'other')"
        " RETURNING id), theirs AS (INSERT INTO jobs (id, tenant_id, name)"
        " SELECT id, id, 'theirs' FROM other RETURNING id)"
        " UPDATE endpoints SET job_id = theirs.id FROM theirs",
        "its_job_is_of_its_tenant",
    ),
    "a job in a mode that nobody knows": (
        """UPDATE jobs SET planner = '{"rules": "act", "llm": "maybe"}'""",
        "jobs_planner_modes_check",
    ),
    "a job in a mode that nobody knew": (
        "UPDATE jobs SET planner_mode = 'maybe'",
        "jobs_planner_mode_check",
    ),
    "a job with no probes at all": (
        "UPDATE jobs SET probe_budget = 0",
        "jobs_probe_budget_check",
    ),
    "a job with a list where its policy belongs": (
        "UPDATE jobs SET planner = '[]'",
        "jobs_planner_check",
    ),
    "a tenant in a mode of detectors that nobody knows": (
        "UPDATE tenants SET detectors_mode = 'maybe'",
        "tenants_detectors_mode_check",
    ),
    "a session that was refused less than never": (
        "INSERT INTO analysis_sessions (id, tenant_id, job_id, endpoint_id, brain, started_at,"
        " duration_ms, ended_as, tool_calls, reasoning, repeats)"
        " SELECT gen_random_uuid(), tenant_id, job_id, id, 'rules', now(), 1, 'submitted', '[]',"
        " '', -1 FROM endpoints",
        "analysis_sessions_repeats_check",
    ),
    "a tenant in a mode that nobody knows": (
        "UPDATE tenants SET rules_mode = 'maybe'",
        "tenants_rules_mode_check",
    ),
    "a tenant in an LLM mode that nobody knows": (
        "UPDATE tenants SET llm_mode = 'maybe'",
        "tenants_llm_mode_check",
    ),
    "a provider that nobody speaks to": (
        f"{NEW_VIRTUAL_KEY} 'soap', 'v1:x:y', NULL FROM tenants",
        "virtual_keys_api_check",
    ),
    "a provider's key that can be read": (
        f"{NEW_VIRTUAL_KEY} 'openai', 'hunter2', NULL FROM tenants",
        "a_virtual_key_is_sealed",
    ),
    "a revoked key that is still there": (
        f"{NEW_VIRTUAL_KEY} 'openai', 'v1:x:y', now() FROM tenants",
        "a_revoked_key_is_gone",
    ),
    "a charge for less than no input": (
        f"{NEW_CHARGE} -1, 0, 0, 0, 0, 'counted' FROM tenants",
        "charges_input_tokens_check",
    ),
    "a charge for less than no output": (
        f"{NEW_CHARGE} 0, -1, 0, 0, 0, 'counted' FROM tenants",
        "charges_output_tokens_check",
    ),
    "a charge for less than nothing cached": (
        f"{NEW_CHARGE} 0, 0, -1, 0, 0, 'counted' FROM tenants",
        "charges_cache_read_tokens_check",
    ),
    "a charge for less than nothing to cache": (
        f"{NEW_CHARGE} 0, 0, 0, -1, 0, 'counted' FROM tenants",
        "charges_cache_write_tokens_check",
    ),
    "a charge that pays the account": (
        f"{NEW_CHARGE} 0, 0, 0, 0, -1, 'counted' FROM tenants",
        "charges_credits_check",
    ),
    "a charge that was guessed": (
        f"{NEW_CHARGE} 0, 0, 0, 0, 0, 'guessed' FROM tenants",
        "charges_basis_check",
    ),
    "a grant of nothing": (
        "INSERT INTO execution_grants (id, tenant_id, user_id, account_id, scopes)"
        " SELECT id, id, id, id, '{}' FROM tenants",
        "execution_grants_scopes_check",
    ),
    "a schedule with a policy that nobody knows": (
        "INSERT INTO schedules (id, tenant_id, user_id, grant_id, graph_id, input, cron, timezone,"
        " concurrency, limits) SELECT id, id, id, id, 'python:a', '{}', '* * * * *', 'UTC',"
        " 'maybe', '{}' FROM tenants",
        "schedules_concurrency_check",
    ),
    "a slot in a state that nobody knows": (
        "INSERT INTO schedule_runs (schedule_id, slot_at, tenant_id, user_id, status)"
        " SELECT id, now(), id, id, 'maybe' FROM tenants",
        "schedule_runs_status_check",
    ),
    **{
        what: (f"{NEW_INCIDENT} {values} FROM tenants", constraint)
        for what, values, constraint in (
            ("an incident of no level", "0, 'info', NULL, NULL", "incidents_level_check"),
            ("an incident of odd severity", "1, 'bad', NULL, NULL", "incidents_severity_check"),
            ("an end by nobody", "1, 'info', now(), NULL", "who_resolved_it_is_known"),
        )
    },
    **{
        what: (f"{NEW_DELIVERY} {values} FROM tenants", constraint)
        for what, values, constraint in (
            ("a delivery of an odd kind", "'wish', 'waiting', id", "deliveries_kind_check"),
            ("a delivery in an odd state", "'event', 'maybe', id", "deliveries_status_check"),
            ("a delivery to nobody", "'event', 'waiting', NULL", "it_goes_to_one"),
        )
    },
    "half of quiet hours": (
        "INSERT INTO notification_routes (id, tenant_id, channel_id, min_severity, group_ms,"
        " cooldown_ms, quiet_from) SELECT id, id, id, 'info', 0, 0, '22:00' FROM tenants",
        "quiet_hours_are_whole",
    ),
    "a webhook for no events": (
        "INSERT INTO event_subscriptions (id, tenant_id, name, url, kinds)"
        " SELECT id, id, 'a', 'https://a', '{}' FROM tenants",
        "event_subscriptions_kinds_check",
    ),
    "a second position of notifiers": (
        "INSERT INTO notifier_position (one, xact, id) VALUES (false, '1', 0)",
        "notifier_position_one_check",
    ),
    "an attempt noted twice": (
        "INSERT INTO run_attempts SELECT id, 1, id, id, now(), now()"
        " FROM tenants, generate_series(1, 2)",
        "run_attempts_pkey",
    ),
    **{
        what: (f"{STEERED} SELECT tenant_id, id, now(), {values} FROM endpoints", constraint)
        for what, values, constraint in (
            (
                "a hint of an unknown kind",
                "'wish', 'person', NULL, NULL, NULL, NULL, NULL",
                "steering_history_kind_check",
            ),
            (
                "a pause by nobody we know",
                "'person-pause', 'ghost', NULL, NULL, NULL, NULL, NULL",
                "steering_history_author_check",
            ),
            (
                "an interval hint without an interval",
                "'interval', 'person', NULL, NULL, NULL, NULL, NULL",
                "an_interval_has_a_length",
            ),
            (
                "a run asked for at no time",
                "'once', 'person', NULL, NULL, NULL, NULL, NULL",
                "one_run_has_an_instant",
            ),
            (
                "a pause that ended in an unknown way",
                "'person-pause', 'person', NULL, NULL, now(), 'melted', 'person'",
                "steering_history_ended_as_check",
            ),
            (
                "a pause that nobody we know ended",
                "'person-pause', 'person', NULL, NULL, now(), 'cleared', 'ghost'",
                "steering_history_ended_by_check",
            ),
            (
                "a pause that was ended by nobody",
                "'person-pause', 'person', NULL, NULL, now(), 'cleared', NULL",
                "what_was_ended_says_how",
            ),
        )
    },
}


@pytest.mark.parametrize("what", NEVER_ELSEWHERE)
async def test_there_is_never(connection: Connection, what: str) -> None:
    statement, constraint = NEVER_ELSEWHERE[what]
    with pytest.raises(asyncpg.IntegrityConstraintViolationError) as refused:
        await connection.execute(statement)
    assert refused.value.constraint_name == constraint


async def test_every_check_of_the_schema_is_tried_here(connection: Connection) -> None:
    rows = await connection.fetch(
        "SELECT DISTINCT conname FROM pg_constraint"
        " WHERE contype = 'c' AND conparentid = 0 AND connamespace = 'public'::regnamespace"
        " AND conrelid::regclass::text NOT LIKE 'runs\\__%'"
    )
    tried = {constraint for _, constraint in (*NEVER_A_RUN.values(), *NEVER_ELSEWHERE.values())}
    tried |= {constraint for _, constraint in NEVER_AN_ENDPOINT.values()}
    tried |= {f"endpoints_{constraint}" for constraint in tried}
    assert {row["conname"] for row in rows} - tried == set()
