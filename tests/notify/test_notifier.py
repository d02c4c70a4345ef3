"""`cadenza notifier` as a process: killed half-way, beside another, cut off, and in storms."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import timedelta
from email import message_from_string, policy
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from standardwebhooks.webhooks import Webhook

from cadenza.adapters.postgres.store import PostgresStore
from cadenza.domain.access import Tenant
from cadenza.domain.delivery import Delivery, Subscription
from cadenza.domain.endpoint import OnDemand
from cadenza.domain.incident import Severity
from cadenza.domain.notification import Channel, Route
from cadenza.domain.signing import SigningKey
from cadenza.domain.target import Secret
from tests.adapters.postgres.support import (
    CADENZA,
    Cable,
    Program,
    World,
    new_world,
    program,
    until,
)
from tests.factories import id_of
from tests.notify.sinks import hook_sink, mail_sink
from tests.postgres import BOX, MASTER_KEY

pytestmark = pytest.mark.slow
PATIENCE = 60  # seconds; only a failing test needs them
SETTINGS = {
    "lease_seconds": 3,
    "tick_seconds": 0.5,
    "allowed_networks": "loopback",
    "master_key": MASTER_KEY,
}
TENANT = id_of("tenant")
SIGNING = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class Notifying:
    """Notifiers that come and go, and what they are to send."""

    def __init__(self, world: World, folder: Path, stack: ExitStack) -> None:
        self.world = world
        self.store = PostgresStore(world.database, BOX)
        self._folder = folder
        self._stack = stack
        self._count = 0

    async def notifier(self, url: str | None = None) -> Program:
        self._count += 1
        name = f"notifier-{self._count}"
        started = self._stack.enter_context(
            program(
                self._folder / f"{name}.log",
                url or self.world.url,
                command=(CADENZA, "notifier"),
                worker_name=name,
                **SETTINGS,
            )
        )
        await until(lambda: "notifier started" in started.output(), within=PATIENCE)
        return started

    async def webhook(self, url: str, *kinds: str) -> Subscription:
        async with self.store.transaction() as tx:
            now = await tx.time()
            one = Subscription(uuid4(), TENANT, "hook", url, now, kinds=kinds or ("none",))
            await tx.insert_subscription(one)
        return one

    async def channel(self, url: str, **fields: object) -> Route:
        async with self.store.transaction() as tx:
            now = await tx.time()
            channel = Channel(uuid4(), TENANT, "channel", "E-Mail", "mailto://…", now)
            await tx.insert_channel(channel, Secret(url))
            route = Route(uuid4(), TENANT, channel.id, now, **fields)  # type: ignore[arg-type]
            await tx.insert_route(route)
        return route

    async def send(self, to: UUID, count: int = 1) -> list[UUID]:
        async with self.store.transaction() as tx:
            now = await tx.time()
            made = [
                Delivery(
                    uuid4(),
                    TENANT,
                    "event",
                    "run.failed",
                    {"type": "run.failed", "n": n},
                    now,
                    now,
                    subscription_id=to,
                )
                for n in range(count)
            ]
            await tx.insert_deliveries(made)
        await self.world.execute("SELECT pg_notify('cadenza_deliveries', '')")
        return [each.id for each in made]

    async def all_delivered(self) -> bool:
        waiting = await self.world.value("SELECT count(*) FROM deliveries WHERE status = 'waiting'")
        return waiting == 0


@pytest.fixture
async def notifying(tmp_path: Path) -> AsyncIterator[Notifying]:
    async with new_world() as world:
        store = PostgresStore(world.database, BOX)
        async with store.transaction() as tx:
            now = await tx.time()
            await tx.insert_tenant(Tenant(TENANT, "tenant", now))
            await tx.insert_signing_key(SigningKey(uuid4(), TENANT, Secret(SIGNING), now))
        with ExitStack() as stack:
            yield Notifying(world, tmp_path, stack)


async def test_killed_between_sending_and_storing_that_it_sent_another_sends_the_same_again(
    notifying: Notifying,
) -> None:
    async with hook_sink(is_open=False) as hook:
        webhook = await notifying.webhook(hook.url)
        first = await notifying.notifier()
        (delivery,) = await notifying.send(webhook.id)
        await hook.until(1)  # it has arrived, and is not answered
        first.send(signal.SIGKILL)
        hook.gate.set()
        await notifying.notifier()
        await hook.until(2)
        await until(notifying.all_delivered, within=PATIENCE)
    (one, body), (other, again) = hook.came
    assert one["webhook-id"] == other["webhook-id"]
    assert str(delivery) in one["webhook-id"]
    assert body == again
    assert (one["Cadenza-Attempt"], other["Cadenza-Attempt"]) == ("1", "2")
    assert Webhook(SIGNING).verify(again, other)["id"] == str(delivery)


async def test_two_beside_each_other_send_everything_once(notifying: Notifying) -> None:
    async with hook_sink() as hook:
        webhook = await notifying.webhook(hook.url)
        await notifying.notifier()
        await notifying.notifier()
        ids = await notifying.send(webhook.id, 40)
        await until(notifying.all_delivered, within=PATIENCE)
    assert sorted(json.loads(body)["id"] for _, body in hook.came) == sorted(map(str, ids))


async def test_a_database_that_is_away_for_a_while_loses_nothing(notifying: Notifying) -> None:
    cable = Cable(notifying.world.url)
    async with cable.plugged(), hook_sink() as hook:
        webhook = await notifying.webhook(hook.url)
        await notifying.notifier(cable.url)
        await notifying.send(webhook.id, 3)
        await hook.until(3)
        await cable.cut()
        ids = await notifying.send(webhook.id, 5)
        await cable.mend()
        await until(notifying.all_delivered, within=PATIENCE)
    assert set(map(str, ids)) <= {json.loads(body)["id"] for _, body in hook.came}


async def test_a_thousand_endpoints_that_fail_at_once_are_one_mail_and_hostile_names_are_text(
    notifying: Notifying,
) -> None:
    world = notifying.world
    async with mail_sink() as box:
        url = f"mailto://127.0.0.1:{box.port}/?from=a@example.com&to=b@example.com"
        await notifying.channel(url, group=timedelta(seconds=2), min_severity=Severity.WARNING)
        endpoint = await world.add("<!channel> [x](http://evil)", baseline=OnDemand())
        await world.add_copies(endpoint, 1000)
        await world.execute("UPDATE endpoints SET failure_count = 1, streak_changed_at = now()")
        await notifying.notifier()
        async with asyncio.timeout(PATIENCE):
            await box.came.wait()
        await until(notifying.all_delivered, within=PATIENCE)
        count = await world.value("SELECT count(*) FROM incidents WHERE resolved_at IS NULL")
        assert count >= 1000
        assert len(box.mails) == 1
        mail = message_from_string(box.mails[0], policy=policy.default)
        assert f"{count} open" in mail["Subject"]
        text = mail.get_body(("plain", "html")).get_content()  # type: ignore[union-attr]
        assert "<!channel>" not in text
        assert f"and {count - 20} more" in text
        # All recover: one more.
        box.came.clear()
        await world.execute("UPDATE endpoints SET failure_count = 0, streak_changed_at = now()")
        await world.execute(
            "INSERT INTO events (kind, tenant_id, data) VALUES ('endpoint.recovered', $1, '{}')",
            TENANT,
        )
        await world.execute("SELECT pg_notify('cadenza_events', '')")
        async with asyncio.timeout(PATIENCE):
            await box.came.wait()
        await until(notifying.all_delivered, within=PATIENCE)
        assert len(box.mails) == 2
        assert f"{count} resolved" in box.mails[1].replace("=\r\n", "").replace("_", " ")


async def test_a_channel_that_hangs_delays_no_other_tenant_and_nothing_secret_is_logged(
    notifying: Notifying,
) -> None:
    other = uuid4()
    async with hook_sink(is_open=False) as hanging, hook_sink() as hook:
        port = hanging.url.split(":")[2].split("/")[0]
        secret = "t0psecret-token"
        url = f"json://127.0.0.1:{port}/{secret}?rto=60&cto=60"
        route = await notifying.channel(url)
        async with notifying.store.transaction() as tx:
            now = await tx.time()
            await tx.insert_tenant(Tenant(other, "other", now))
            theirs = Subscription(uuid4(), other, "hook", hook.url, now, kinds=("*",))
            await tx.insert_subscription(theirs)
            payload = {"title": "t", "body": "b", "severity": "info"}
            for _ in range(30):
                message = Delivery(
                    uuid4(), TENANT, "test", "t", payload, now, now, route.channel_id
                )
                await tx.insert_deliveries([message])
        running = await notifying.notifier()
        await hanging.until(1)
        async with notifying.store.transaction() as tx:
            now = await tx.time()
            known = (uuid4(), other, "event", "run.failed", {"type": "run.failed"}, now, now)
            await tx.insert_deliveries([Delivery(*known, subscription_id=theirs.id)])
        await notifying.world.execute("SELECT pg_notify('cadenza_deliveries', '')")
        await hook.until(1)
        assert len(hanging.came) == 1
        assert secret not in running.output()
