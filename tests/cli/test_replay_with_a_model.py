"""`cadenza replay --brain llm`: over stored runs, with a provider on a local port."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.domain.plan import Source
from cadenza.domain.run import Run, RunStatus
from tests.adapters.brains.llm.provider import Answer, Asked, Hang, Model, Provider, Raw, served
from tests.backends import Backend, Contents
from tests.cli.support import Done, Person, Site

HOURS = 144
BUSY = range(50, 90)  # of these hours


@pytest.fixture
def shop(person: Person) -> Person:
    """Six days of a queue that was asked every hour, and runs every six by itself."""
    person.says("jobs", "create", "shop")
    person.says("jobs", "pause", "shop")  # a run of now would be one more
    queue = person.queue("shop/queue", "--every", "6h")
    tenant_id = UUID(person.gets("whoami")["tenant_id"])
    person.site.wait_for(_add_runs(person.site.backend, tenant_id, UUID(queue["id"])))
    return person


async def _add_runs(backend: Backend, tenant_id: UUID, endpoint_id: UUID) -> None:
    hour = (await backend.now()).replace(minute=0, second=0, microsecond=0)
    for number in range(HOURS):
        at = hour - timedelta(hours=HOURS - number)
        run = Run(
            uuid4(),
            endpoint_id,
            tenant_id,
            at,
            Source.BASELINE_INTERVAL,
            RunStatus.SUCCESS,
            1,
            1,
            at,
            at,
            at,
            200,
            body={"depth": 400 if number in BUSY else 20},
        )
        await backend.insert_run(run)


def watchful(asked: Asked) -> Answer:
    """It reads the latest answer, and looks closely while the queue is long."""
    message = asked.body["messages"][-1]
    if message["role"] == "user":
        return Answer([("get_latest_response", {})])
    submit = ("submit_analysis", {"reasoning": "seen", "next_analysis_in_ms": 86_400_000})
    if '"depth": 400' not in message["content"]:
        return Answer([("clear_hints", {"reason": "all is calm"}), submit])
    faster = {"interval_ms": 3_600_000, "ttl_minutes": 720, "reason": "the queue is long"}
    return Answer([("propose_interval", faster), submit])


@contextmanager
def serving(site: Site, model: Model) -> Iterator[Provider]:
    provider = served(model)
    try:
        yield site.wait_for(provider.__aenter__())
    finally:
        site.wait_for(provider.__aexit__(None, None, None))


@pytest.fixture
def replay(shop: Person) -> Callable[..., tuple[Done, Provider]]:
    def run(model: Model, *words: str, **settings: Any) -> tuple[Done, Provider]:
        with serving(shop.site, model) as provider:
            values = {
                "provider": "openai-compatible",
                "model": "llama3.1",
                "base_url": f"{provider.url}/v1",
                "input_price": 2,
                "output_price": 10,
                **settings,
            }
            named = {f"CADENZA_LLM_{name.upper()}": str(value) for name, value in values.items()}
            shop.environment.update(named)
            words = ("replay", "shop/queue", "--brain", "llm", "--since", "7d", *words)
            return shop.cadenza(*words), provider

    return run


def everything(person: Person) -> Contents:
    """Every row of the person's tenant. The others of the site go on with their runs meanwhile."""
    tenant_id = person.gets("whoami")["tenant_id"]
    contents: Contents = person.site.wait_for(person.site.backend.contents())
    return {table: [row for row in rows if tenant_id in row] for table, rows in contents.items()}


def test_it_shows_both_sides_and_what_it_cost_and_writes_nothing(
    shop: Person, replay: Callable[..., tuple[Done, Provider]]
) -> None:
    shop.cadenza("runs", "list")  # the first use of a key is noted
    before = everything(shop)
    done, provider = replay(watchful, "--json")
    after = everything(shop)
    assert done.code == 0, done.err
    assert len(before["runs"]) >= HOURS
    assert after == before
    (report,) = done.lines
    recorded, baseline, model = report["lanes"]
    assert [recorded["who"], baseline["who"]] == ["recorded", "baseline"]
    assert model["who"] == "llm openai-compatible llama3.1"
    assert (recorded["probes"], baseline["probes"]) == (HOURS, 24)
    assert model["probes"] > baseline["probes"] + 10  # hourly while the queue is long
    assert report["changes"] == 2
    asked = len(provider.asked)
    assert report["spent_in_all"] == {
        "sessions": asked // 2,
        "failed": 0,
        "tokens": 1050 * asked,
        "cost": pytest.approx(asked * (1000 * 2 + 50 * 10) / 1e6),
        "ended_early": False,
    }


def test_a_person_is_told_the_price(replay: Callable[..., tuple[Done, Provider]]) -> None:
    done, provider = replay(watchful, "--table")
    asked = len(provider.asked)
    assert done.code == 0, done.err
    assert "llm openai-compatible llama3.1" in done.out
    assert f"It cost {asked // 2} sessions with the model, {1050 * asked:,} tokens" in done.out
    assert f"{asked * 0.0025:.4f} in money." in done.out
    assert "Nothing was written" in done.out


def test_it_ends_where_it_has_held_as_many_sessions_as_it_may(
    replay: Callable[..., tuple[Done, Provider]],
) -> None:
    done, provider = replay(watchful, "--table", "--sessions", "3")
    assert done.code == 0, done.err
    assert len(provider.asked) == 2 * 3
    assert "where --sessions 3 were held" in done.out


def test_what_lies_after_the_last_session_counts_for_nobody(
    replay: Callable[..., tuple[Done, Provider]],
) -> None:
    done, _ = replay(watchful, "--json", "--sessions", "1")
    (report,) = done.lines
    assert report["spent_in_all"]["ended_early"] is True
    recorded, baseline, model = report["lanes"]
    assert report["changes"] == 0
    assert recorded["probes"] < BUSY.start
    assert baseline["probes"] == model["probes"] < 10


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Raw(500), "HTTP 500"),
        (Raw(429, headers={"Retry-After": "30"}), "HTTP 429"),
        (Raw(401), "HTTP 401"),
        (Hang(), "did not answer in time"),
    ],
    ids=["500", "429", "401", "hangs"],
)
def test_a_provider_that_only_fails_ends_it_with_the_reason(
    shop: Person, replay: Callable[..., tuple[Done, Provider]], reply: Raw | Hang, message: str
) -> None:
    shop.cadenza("runs", "list")
    before = everything(shop)
    done, provider = replay(lambda _: reply, timeout_seconds=1)
    assert done.code == 1
    assert message in done.err
    assert "3 times in a row" in done.err
    assert "It had cost 3 sessions with the model, 0 tokens" in done.err
    assert len(provider.asked) == 3
    assert done.out == ""
    assert everything(shop) == before


def test_a_session_that_fails_now_and_then_is_counted(
    replay: Callable[..., tuple[Done, Provider]],
) -> None:
    def model(asked: Asked) -> Answer | Raw:
        return Raw(503) if asked.number in (2, 3, 7) else watchful(asked)

    done, provider = replay(model, "--table")
    assert done.code == 0, done.err
    assert f"{1050 * (len(provider.asked) - 3):,} tokens" in done.out
    assert ", 3 of them failed." in done.out


def test_its_help_names_the_bound(shop: Person) -> None:
    text = " ".join(shop.cadenza("replay", "--help").out.replace("│", " ").split())
    assert "--sessions" in text
    assert "default: 50" in text
