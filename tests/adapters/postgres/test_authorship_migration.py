"""Migrations 0008 and 0009 on a database of the version before: rules as people write them become
stored rules with ids, and what was known by a rule's name gets its id."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from cadenza.adapters.postgres import migrate as module
from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.migrate import migrate, migrations
from cadenza.manifest.durations import parse_duration
from tests.factories import id_of
from tests.postgres import fresh_database_url

FIRED_AT = "2026-03-01T12:00:00Z"
DURATIONS = ("250ms", "90s", "5m", "5m30s", "1h30m", "2d", "1w", "1w2d3h4m5s6ms", 61_500)
RULES: list[dict[str, Any]] = [
    {
        "name": "deep queue",
        "endpoint": "probe",
        "when": "response.depth > 300",
        "for": 3,
        "then": {"interval": "1h30m", "endpoint": "shop"},
        "ttl": "2h",
        "cooldown": "90s",
        "reason": "it is deep",
    },
    {"name": "deep", "when": "true", "then": {"run_now": True}},
    {"name": "deep: end", "when": "true", "then": {"run_at": "response.ends_at"}},
    {"name": "soon", "when": "true", "then": {"run_in": 1500}, "ttl": 60_000},
    {"name": "up", "when": "true", "then": {"resume": True}},
    {"name": "forget", "when": "true", "then": {"clear": True}},
    *({"name": f"wait {text}", "when": "x", "then": {"pause": text}} for text in DURATIONS),
]
# Of each hint and pause: who wrote it, the reason it gives, the brain of its session ("" where the
# session is gone); then what is to come of it: the brain, and the rule by its name.
CASES: dict[str, tuple[str, str | None, str | None, str | None, str | None]] = {
    "a rule with a reason": ("planner", "Rule deep: so it is", "rules", "rules", "deep"),
    "a rule without one": ("planner", "Rule deep", "rules", "rules", "deep"),
    "the longest name": ("planner", "Rule deep queue: x", "rules", "rules", "deep queue"),
    "a name with a colon": ("planner", "Rule deep: end", "rules", "rules", "deep: end"),
    "a rule, its session gone": ("planner", "Rule up: x", "", "rules", "up"),
    "a rule, no session": ("planner", "Rule up: x", None, "rules", "up"),
    "a name that only begins so": ("planner", "Rule deeper: x", "rules", "rules", None),
    "a name without its colon": ("planner", "Rule deep sea", "rules", "rules", None),
    "a rule of another job": ("planner", "Rule elsewhere: x", None, "rules", None),
    "a detector": ("planner", "It was down", "rules", "rules", None),
    "a model": ("planner", "It was down", "llm openai:some-model", "llm", None),
    "a model that speaks of a rule": ("planner", "Rule deep: x", "llm a:b", "llm", None),
    "nothing known": ("planner", None, None, "rules", None),
    "a person": ("person", "Rule deep queue: I say so", None, None, None),
}
CALLS = [{"tool": "propose_interval", "arguments": {"reason": "Rule deep"}, "took_effect": True}]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Filled as the version before left it, and migrated."""
    database = fresh_database_url()
    with asyncio.Runner() as runner:
        url = runner.run(database.__aenter__())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "migrations", lambda: migrations()[:7])
            runner.run(_migrate(url))
        runner.run(_fill(url))
        runner.run(_migrate(url))
        yield url
        runner.run(database.__aexit__(None, None, None))


async def _migrate(url: str) -> None:
    database = await open_database(url, connections=1)
    await migrate(database)
    await database.close()


async def _fill(url: str) -> None:
    async with connected(url) as connection:
        tenant_id = id_of("tenant")
        await connection.execute("INSERT INTO tenants (id, name) VALUES ($1, 't')", tenant_id)
        elsewhere = [{"name": "elsewhere", "when": "x", "then": {"clear": True}}]
        for name, rules in {"job": RULES, "other": elsewhere, "plain": []}.items():
            await connection.execute(
                "INSERT INTO jobs (id, tenant_id, name, rules) VALUES ($1, $2, $3, $4)",
                id_of(name),
                tenant_id,
                name,
                json.dumps(rules),
            )
        for name, case in CASES.items():
            await _add_endpoint(connection, name, *case[:3])
        await connection.execute(
            "INSERT INTO looks (endpoint_id, brain, fired) VALUES ($1, 'rules', $2)",
            id_of("a detector"),
            json.dumps({"deep queue": FIRED_AT, "gone": FIRED_AT}),
        )
        await connection.execute(
            "INSERT INTO looks (endpoint_id, brain) VALUES ($1, 'rules')", id_of("a model")
        )


async def _add_endpoint(
    connection: asyncpg.Connection, name: str, author: str, reason: str | None, brain: str | None
) -> None:
    """With both kinds of hint, and a pause; all of one session."""
    session_id = None if brain is None else id_of(f"session of {name}")
    await connection.execute(
        "INSERT INTO endpoints (id, tenant_id, job_id, name, created_at, target,"
        " hint_interval_ms, hint_interval_expires_at, hint_interval_author, hint_interval_reason,"
        " hint_interval_session_id, hint_run_at, hint_run_expires_at, hint_run_author,"
        " hint_run_reason, hint_run_session_id, person_paused_until, person_pause_reason,"
        " planner_paused_until, planner_pause_reason, planner_pause_session_id)"
        " VALUES ($1, $2, $3, $4, now(), '{}', 1000, now(), $5, $6, $7, now(), now(), $5, $6, $7,"
        " CASE $5 WHEN 'person' THEN now() END, $6, CASE $5 WHEN 'planner' THEN now() END, $6, $7)",
        id_of(name),
        id_of("tenant"),
        id_of("job"),
        name,
        author,
        reason,
        session_id,
    )
    if brain:
        await connection.execute(
            "INSERT INTO analysis_sessions (id, tenant_id, job_id, endpoint_id, brain, started_at,"
            " duration_ms, ended_as, tool_calls, reasoning)"
            " VALUES ($1, $2, $3, $4, $5, now(), 1, 'submitted', $6, '')",
            session_id,
            id_of("tenant"),
            id_of("job"),
            id_of(name),
            brain,
            json.dumps(CALLS),
        )


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def stored_rules(connection: asyncpg.Connection, job: str = "job") -> dict[str, Any]:
    """By name, in their order."""
    text = await connection.fetchval("SELECT rules FROM jobs WHERE id = $1", id_of(job))
    return {rule["name"]: rule for rule in json.loads(text)}


def then(action: str, **fields: object) -> dict[str, Any]:
    return {"action": action, "duration_ms": None, "at": None, "endpoint": None, **fields}


async def test_rules_get_a_form_of_their_own(url: str) -> None:
    async with connected(url) as connection:
        rules = await stored_rules(connection)
        assert await connection.fetchval("SELECT rules FROM jobs WHERE name = 'plain'") == "[]"
    assert list(rules) == [rule["name"] for rule in RULES]
    assert len({UUID(rule.pop("id")) for rule in rules.values()}) == len(RULES)
    assert rules["deep queue"] == {
        "name": "deep queue",
        "endpoint": "probe",
        "when": "response.depth > 300",
        "runs": 3,
        "then": then("interval", duration_ms=5_400_000, endpoint="shop"),
        "ttl_ms": 7_200_000,
        "cooldown_ms": 90_000,
        "reason": "it is deep",
    }
    assert rules["deep"] == {
        "name": "deep",
        "endpoint": None,
        "when": "true",
        "runs": 1,
        "then": then("run_now"),
        "ttl_ms": 3_600_000,
        "cooldown_ms": 0,
        "reason": "",
    }
    assert rules["deep: end"]["then"] == then("run_at", at="response.ends_at")
    assert rules["soon"]["then"] == then("run_in", duration_ms=1500)
    assert rules["soon"]["ttl_ms"] == 60_000
    assert rules["up"]["then"] == then("resume")
    assert rules["forget"]["then"] == then("clear")


@pytest.mark.parametrize("written", DURATIONS)
async def test_durations_are_what_the_edge_reads_in_them(url: str, written: int | str) -> None:
    async with connected(url) as connection:
        stored = (await stored_rules(connection))[f"wait {written}"]["then"]
    milliseconds = parse_duration(written).total_seconds() * 1000
    assert stored == then("pause", duration_ms=milliseconds)


@pytest.mark.parametrize("case", CASES)
async def test_who_wrote_a_hint_or_pause_is_data(url: str, case: str) -> None:
    author, reason, _, brain, rule = CASES[case]
    async with connected(url) as connection:
        rules = await stored_rules(connection)
        row = await connection.fetchrow("SELECT * FROM endpoints WHERE id = $1", id_of(case))
    assert row is not None
    rule_id = None if rule is None else UUID(rules[rule]["id"])
    for prefix in ("hint_interval", "hint_run", "planner_pause"):
        assert (row[f"{prefix}_brain"], row[f"{prefix}_rule_id"]) == (brain, rule_id)
        assert row[f"{prefix}_reason"] == reason
    for prefix in ("hint_interval", "hint_run"):
        assert (row[f"{prefix}_author"], row[f"{prefix}_user_id"]) == (author, None)
    assert row["person_pause_user_id"] is None


async def test_when_a_rule_last_fired_is_kept_under_its_id(url: str) -> None:
    async with connected(url) as connection:
        rules = await stored_rules(connection)
        rows = await connection.fetch("SELECT endpoint_id, fired FROM looks")
    fired = {row["endpoint_id"]: json.loads(row["fired"]) for row in rows}
    assert fired == {
        id_of("a detector"): {rules["deep queue"]["id"]: FIRED_AT},
        id_of("a model"): {},
    }


async def test_the_calls_of_sessions_stay_as_they_are(url: str) -> None:
    async with connected(url) as connection:
        rows = await connection.fetch("SELECT tool_calls FROM analysis_sessions")
    assert [json.loads(row["tool_calls"]) for row in rows] == [CALLS] * len(rows)


async def test_no_helper_is_left_behind(url: str) -> None:
    async with connected(url) as connection:
        names = await connection.fetch(
            "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
        )
    assert {"written_ms", "planner_author"}.isdisjoint(row["proname"] for row in names)
