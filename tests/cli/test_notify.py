"""Channels, routes, webhooks and incidents at a command line."""

from uuid import UUID, uuid4

from cadenza.domain.incident import Condition, IncidentKind, opened
from tests.cli.support import Person

TOKEN = "t0ken-of-a-channel"


async def _open_incident(person: Person, tenant_id: UUID) -> None:
    async with person.site.backend.store.transaction() as tx:
        now = await tx.time()
        condition = Condition(tenant_id, IncidentKind.WORKER, "w", "scheduler w", now)
        await tx.save_incidents([opened(condition, None, now, uuid4())])


def test_a_channel_and_its_routes_are_made_listed_and_deleted(person: Person) -> None:
    made = person.gets("notify", "channels", "create", "ops", f"json://hooks.example/{TOKEN}")
    assert TOKEN not in str(made)
    assert "not used yet" in person.says("notify", "channels", "list")
    route = person.gets(
        "notify",
        "routes",
        "create",
        "ops",
        "--severity",
        "error",
        "--kind",
        "failing",
        "--quiet",
        "22:00-07:00",
        "--timezone",
        "Europe/Berlin",
        "--cooldown",
        "4h",
    )
    assert route["quiet"] == {"from": "22:00", "to": "07:00", "timezone": "Europe/Berlin"}
    assert "22:00-07:00" in person.says("notify", "routes", "list", "--wide")
    assert "disabled" in person.says("notify", "channels", "disable", "ops")
    assert "disabled" in person.says("notify", "channels", "list")
    person.says("notify", "channels", "enable", "ops")
    another = "json://other.example/an0ther-token"
    edited = person.gets("notify", "channels", "edit", "ops", "--url", another)
    assert (edited["id"], edited["url"]) == (made["id"], "json://other.example/…")
    assert person.gets("notify", "routes", "list")["channel_id"] == made["id"]
    assert "Nothing to change" in person.cadenza("notify", "channels", "edit", "ops").err
    person.says("notify", "routes", "delete", route["id"][:8], "--yes")
    assert "no notifications are sent" in person.says("notify", "routes", "list")
    person.says("notify", "channels", "delete", "ops", "--yes")
    assert "No channels" in person.says("notify", "channels", "list")


def test_what_is_no_channel_is_refused_with_the_fix(person: Person) -> None:
    done = person.cadenza("notify", "channels", "create", "bad", "syslog://")
    assert done.code != 0
    assert "would act on this machine" in done.err
    assert person.cadenza("notify", "channels", "delete", "nobody", "--yes").code != 0
    done = person.cadenza("webhooks", "create", "bad", "ftp://x", "--kind", "run.failed")
    assert done.code != 0
    assert "url" in done.err


def test_a_webhook_is_made_listed_disabled_and_deleted(person: Person) -> None:
    new = ("https://ci.example/1", "--kind", "run.failed")
    assert "Events are not signed yet" in person.cadenza("webhooks", "create", "unsigned", *new).err
    person.says("webhooks", "delete", "unsigned", "--yes")
    person.gets("signing-keys", "create")
    assert "Nothing is signed" not in person.cadenza("webhooks", "create", "ci", *new).err
    assert "run.failed" in person.says("webhooks", "list")
    person.says("webhooks", "disable", "ci")
    assert "disabled" in person.says("webhooks", "list")
    assert "No deliveries yet" in person.says("webhooks", "deliveries", "--webhook", "ci")
    assert "No deliveries match." in person.says("webhooks", "deliveries", "--status", "failed")
    person.says("webhooks", "enable", "ci")
    person.says("webhooks", "edit", "ci", "--kind", "incident.*", "--name", "builds")
    assert "incident.*" in person.says("webhooks", "list")
    assert "Nothing to change" in person.cadenza("webhooks", "edit", "builds").err
    person.says("webhooks", "edit", "builds", "--name", "ci")
    person.says("webhooks", "delete", "ci", "--yes")
    assert "No webhooks" in person.says("webhooks", "list")


def test_an_incident_is_listed_shown_acknowledged_and_closed(person: Person) -> None:
    assert "No open incidents" in person.says("incidents", "list")
    tenant_id = UUID(person.gets("whoami")["tenant_id"])
    person.site.wait_for(_open_incident(person, tenant_id))
    assert "scheduler w" in person.says("incidents", "list")
    assert "a worker stopped responding" in person.says("status")
    assert "No incidents match." in person.says("incidents", "list", "--kind", "late")
    incident = person.cadenza("incidents", "list", "--json").lines[0]
    assert "worker-lost" in person.says("incidents", "show", incident["id"][:8])
    assert "acknowledged by user ada" in person.says("incidents", "ack", incident["id"])
    assert "resolved by user ada" in person.says("incidents", "resolve", incident["id"])
    assert "No open incidents" in person.says("incidents", "list")
    assert "scheduler w" in person.says("incidents", "list", "--all")
