"""Endpoints that publish to a broker: declared, shown, changed, exported; passwords never shown."""

from typing import Any

import pytest

from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.target import Secret
from tests.web.support import Site

REDIS = "redis://shop@broker.example:6379/0"
PASSWORD = "sesame-of-the-broker"


async def create(site: Site, name: str = "orders", **fields: Any) -> dict[str, Any]:
    body = {"queue": REDIS, "topic": "orders", "password": PASSWORD, **fields}
    job = await site.ours.job(f"job of {name}")
    document = {"name": name, "every": "5m", **body}
    return await site.ours.done("POST", f"/jobs/{job['id']}/endpoints", document)


async def stored(site: Site, endpoint: dict[str, Any]) -> QueueTarget:
    async with site.backend.store.transaction() as tx:
        rows = await tx.declared_endpoints(site.ours.tenant_id)
    (target,) = [row.opened_target for row in rows if str(row.endpoint.id) == endpoint["id"]]
    assert isinstance(target, QueueTarget)
    return target


async def test_a_queue_is_declared_and_its_password_never_shown(site: Site) -> None:
    made = await create(site, body={"do": "count"}, reply_to="answers", timeout="2h")
    target = made["target"]
    assert (target["kind"], target["queue"], target["topic"]) == ("queue", REDIS, "orders")
    assert (target["has_password"], target["await_result"], target["reply_to"]) == (
        *(True, True, "answers"),
    )
    assert (target["body"], target["timeout_ms"]) == ('{"do": "count"}', 7_200_000)
    assert (await stored(site, made)).password == Secret(PASSWORD)
    shown = [
        await site.ours.ask("GET", f"/endpoints/{made['id']}"),
        await site.ours.ask("GET", "/endpoints"),
        await site.ours.ask("GET", "/manifest"),
        await site.ours.ask("GET", "/audit"),
    ]
    assert all(answer.status_code == 200 for answer in shown)
    assert PASSWORD not in "".join(answer.text for answer in shown)


async def test_a_patch_keeps_the_password_and_another_broker_drops_it(site: Site) -> None:
    made = await create(site)
    path = f"/endpoints/{made['id']}"
    changed = await site.ours.done("PATCH", path, {"topic": "others", "headers": {"A": "b"}})
    assert (changed["target"]["topic"], changed["target"]["has_password"]) == ("others", True)
    assert (await stored(site, made)).password == Secret(PASSWORD)
    same = await site.ours.done("PATCH", path, {"queue": "redis://shop@broker.example/1"})
    assert same["target"]["headers"] == {"A": "b"}
    assert same["target"]["has_password"], "another database of the same broker"
    moved = await site.ours.done("PATCH", path, {"queue": "redis://shop@thief.example/0"})
    assert not moved["target"]["has_password"]
    assert "broker.example" in moved["warnings"][0]
    assert (await stored(site, made)).password is None


async def test_a_password_that_belongs_elsewhere_cannot_be_kept(site: Site) -> None:
    made = await create(site)
    change = {"queue": "amqp://shop@thief.example", "password": "***"}
    answer = await site.ours.ask("PATCH", f"/endpoints/{made['id']}", json=change)
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert (error["field"], "belongs to" in error["fix"]) == ("password", True)


async def test_it_is_exported_and_applied_again_without_a_change(site: Site) -> None:
    await create(site, exchange=None)
    manifest = await site.ours.done("GET", "/manifest")
    (job,) = manifest["jobs"]
    assert job["endpoints"][0]["password"] == "***"
    again = await site.ours.done("PUT", "/manifest", manifest)
    assert again["changes"] == []


async def test_it_may_become_something_else_and_back(site: Site) -> None:
    made = await create(site, headers={"A": "b"})
    path = f"/endpoints/{made['id']}"
    http = await site.ours.done("PATCH", path, {"url": "https://shop.example/"})
    assert (http["target"]["kind"], http["target"]["headers"]) == ("http", {})
    back = await site.ours.done("PATCH", path, {"queue": "nats://broker.example", "topic": "a.b"})
    assert (back["target"]["kind"], back["target"]["has_password"]) == ("queue", False)


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"queue": "http://broker.example"}, "queue", "it must begin with one of redis://"),
        ({"queue": "redis://u:hunter2@broker.example"}, "queue", "give it as `password`"),
        ({"queue": "redis://broker.example/x"}, "queue", "the number of a database"),
        ({"queue": "nats://broker.example/x"}, "queue", "a topic has a field of its own"),
        ({"queue": "redis://"}, "queue", "it names no host"),
        ({"queue": "redis://broker.example:99999"}, "queue", "port"),
        ({"queue": "redis://broker.example?db=1"}, "queue", "leave it out"),
        ({"queue": "redis://[::1"}, "queue", "cannot be read"),
        ({"topic": None}, "topic", "name the stream"),
        ({"topic": "x" * 251}, "topic", ""),
        ({"queue": "nats://broker.example", "topic": "a b"}, "topic", "words with dots"),
        ({"queue": "nats://broker.example", "topic": "a.*"}, "topic", "words with dots"),
        ({"queue": "kafka://broker.example", "topic": "a/b"}, "topic", "letters"),
        ({"queue": "kafka://broker.example", "reply_to": "b"}, "reply_to", "token"),
        ({"reply_to": "orders"}, "reply_to", "a place of their own"),
        ({"exchange": "x"}, "exchange", "only RabbitMQ"),
        ({"headers": {"Idempotency-Key": "x"}}, "headers", "Cadenza's to set"),
        ({"timeout": "31m"}, "timeout", "30 min"),
        ({"timeout": "25h", "await_result": True}, "timeout", "24 h"),
        ({"secret_headers": {"A": "b"}}, "secret_headers", "does not go with a queue"),
        ({"method": "POST"}, "method", "does not go with a queue"),
        ({"url": "https://shop.example/"}, "url", "exactly one of"),
    ],
)
async def test_what_is_wrong_is_named_with_the_fix(
    site: Site, fields: dict[str, Any], field: str, said: str
) -> None:
    job = await site.ours.job()
    given = {"queue": REDIS, "topic": "orders", **fields}
    document = {name: value for name, value in given.items() if value is not None}
    body = {"name": "orders", "every": "5m", **document}
    answer = await site.ours.ask("POST", f"/jobs/{job['id']}/endpoints", json=body)
    assert answer.status_code == 422, answer.text
    (error,) = answer.json()["errors"]
    assert error["field"] == field, error
    assert said in error["fix"], error
    assert "hunter2" not in answer.text


async def test_a_password_goes_only_with_a_queue(site: Site) -> None:
    job = await site.ours.job()
    body = {"name": "a", "every": "5m", "url": "https://shop.example/", "password": "hunter2"}
    answer = await site.ours.ask("POST", f"/jobs/{job['id']}/endpoints", json=body)
    assert (answer.status_code, "hunter2" in answer.text) == (422, False)


async def test_the_dashboard_shows_it_without_its_password(site: Site) -> None:
    made = await create(site, await_result=True)
    await site.client.post("/sign-in", data={"key": site.ours.keys["admin"]})
    page = await site.client.get(f"/endpoints/{made['id']}")
    form = await site.client.get(f"/endpoints/{made['id']}/edit")
    for answer in (page, form):
        assert answer.status_code == 200
        assert REDIS in answer.text
        assert PASSWORD not in answer.text
    assert '<option value="true" selected>' in form.text
