"""Channels, routes, webhooks and incidents over the API."""

from typing import Any
from uuid import uuid4

import pytest

from cadenza.adapters.system.zones import zone_of
from cadenza.application.incidents import IncidentWatch
from cadenza.domain.audit import PendingEvent
from tests.web.support import OPERATE, READ, House, Site

SECRET = "s3cr3t-part-of-a-url"
URL = f"json://hooks.example/{SECRET}"


async def _channel(house: House, name: str = "ops") -> dict[str, Any]:
    return await house.done("POST", "/notifications/channels", {"name": name, "url": URL})


async def _open_incident(site: Site) -> dict[str, Any]:
    """A limit of the planner: it needs no run."""
    tenant_id, store = site.ours.tenant_id, site.backend.store
    data = {"limit_name": "tokens_per_month", "period": "2099-03", "percent": 80}
    async with store.transaction() as tx:
        await tx.add_events([PendingEvent("quota.warning", tenant_id, None, None, data)])
    watch = IncidentWatch(store, zone_of, uuid4)
    for _ in range(100):  # others may have a transaction open, which holds events back
        await watch.look_at_everything()
        if items := (await site.ours.done("GET", "/incidents", scope=READ))["items"]:
            return items[0]
    raise AssertionError("no incident")


async def test_a_channel_is_made_changed_and_deleted_and_its_url_is_never_shown(
    site: Site,
) -> None:
    channel = await _channel(site.ours)
    assert (channel["service"], channel["url"]) == ("JSON", "json://hooks.example/…")
    path = f"/notifications/channels/{channel['id']}"
    changed = await site.ours.done("PATCH", path, {"enabled": False, "name": "night"})
    assert (changed["enabled"], changed["name"]) == (False, "night")
    listed = await site.ours.done("GET", "/notifications/channels")
    audit = await site.ours.done("GET", "/audit")
    assert SECRET not in f"{channel}{changed}{listed}{audit}"
    assert {"channel.create", "channel.change"} <= {each["action"] for each in audit["items"]}
    await site.ours.done("DELETE", path)
    assert (await site.ours.done("GET", "/notifications/channels"))["items"] == []
    assert (await site.ours.ask("DELETE", path)).status_code == 404


@pytest.mark.parametrize(
    "url",
    ["syslog://", "gnome://", "nothing://x", "slack", "json://h/?template=/etc/passwd", "x" * 3000],
)
async def test_a_url_that_is_no_channel_is_refused_by_name_and_not_repeated(
    site: Site, url: str
) -> None:
    answer = await site.ours.ask(
        "POST", "/notifications/channels", json={"name": "bad", "url": url}
    )
    assert answer.status_code == 422
    assert "url" in answer.text


async def test_a_route_has_its_quiet_hours_as_they_were_written(site: Site) -> None:
    channel = await _channel(site.ours)
    body = {
        "channel_id": channel["id"],
        "kinds": ["failing", "late"],
        "min_severity": "error",
        "quiet": {"from": "22:00", "to": "07:00", "timezone": "Europe/Berlin"},
        "cooldown": "4h",
    }
    route = await site.ours.done("POST", "/notifications/routes", body)
    assert route["quiet"] == body["quiet"]
    assert (route["cooldown_ms"], route["kinds"]) == (4 * 3600 * 1000, ["failing", "late"])
    path = f"/notifications/routes/{route['id']}"
    changed = await site.ours.done("PATCH", path, {"quiet": None, "group": "1m"})
    assert (changed["quiet"], changed["group_ms"], changed["min_severity"]) == (
        None,
        60_000,
        "error",
    )
    assert len((await site.ours.done("GET", "/notifications/routes"))["items"]) == 1
    await site.ours.done("DELETE", path)
    assert (await site.ours.ask("DELETE", path)).status_code == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("quiet", {"from": "25:00", "to": "07:00"}),
        ("quiet", {"from": "07:00", "to": "07:00"}),
        ("quiet", {"from": "22:00", "to": "07:00", "timezone": "Mars/Olympus"}),
        ("kinds", ["nothing"]),
        ("min_severity", "bad"),
        ("cooldown", "8d"),
        ("group", "1h"),
        ("job_id", "x"),
    ],
)
async def test_a_bad_route_is_refused_by_field(site: Site, field: str, value: object) -> None:
    channel = await _channel(site.ours)
    body = {"channel_id": channel["id"], field: value}
    answer = await site.ours.ask("POST", "/notifications/routes", json=body)
    assert answer.status_code == 422
    assert field in answer.text


async def test_a_route_to_anothers_channel_or_of_anothers_job_is_not_found(site: Site) -> None:
    theirs, ours = await _channel(site.theirs), await _channel(site.ours)
    for body in ({"channel_id": theirs["id"]}, {"channel_id": ours["id"], "job_id": str(uuid4())}):
        answer = await site.ours.ask("POST", "/notifications/routes", json=body)
        assert answer.status_code == 404


async def test_a_webhook_is_made_changed_tested_and_sent_again(site: Site) -> None:
    body = {"name": "ci", "url": "https://ci.example/hook", "kinds": ["run.failed", "incident.*"]}
    webhook = await site.ours.done("POST", "/webhooks", body)
    path = f"/webhooks/{webhook['id']}"
    assert (await site.ours.ask("POST", "/webhooks", json=body)).status_code == 409
    changed = await site.ours.done("PATCH", path, {"enabled": False})
    assert not changed["enabled"]
    delivery = await site.ours.done("POST", f"{path}/test")
    assert (delivery["status"], delivery["webhook_id"]) == ("waiting", webhook["id"])
    again = await site.ours.done("POST", f"/deliveries/{delivery['id']}/resend")
    assert again["id"] != delivery["id"]
    page = await site.ours.done("GET", f"/deliveries?webhook_id={webhook['id']}&limit=1")
    rest = await site.ours.done("GET", f"/deliveries?limit=1&cursor={page['next']}")
    assert {page["items"][0]["id"], rest["items"][0]["id"]} == {delivery["id"], again["id"]}
    shown = await site.ours.done("GET", f"/deliveries/{delivery['id']}")
    assert shown["payload"]["type"] == "webhook.test"
    assert (await site.theirs.ask("GET", f"/deliveries/{delivery['id']}")).status_code == 404
    await site.ours.done("DELETE", path)
    assert (await site.ours.done("GET", "/deliveries"))["items"] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "ftp://x.example"),
        ("url", "http://user:pass@x.example"),
        ("kinds", []),
        ("kinds", ["a b"]),
        ("name", "a/b"),
        ("nothing", 1),
    ],
)
async def test_a_bad_webhook_is_refused_by_field(site: Site, field: str, value: object) -> None:
    body = {"name": "ci", "url": "https://ci.example", "kinds": ["*"], field: value}
    answer = await site.ours.ask("POST", "/webhooks", json=body)
    assert answer.status_code == 422
    assert field in answer.text


async def test_an_incident_is_listed_acknowledged_and_resolved_by_hand(site: Site) -> None:
    incident = await _open_incident(site)
    assert (incident["kind"], incident["severity"]) == ("quota", "warning")
    path = f"/incidents/{incident['id']}"
    assert (await site.ours.ask("POST", f"{path}/acknowledge", READ)).status_code == 403
    known = await site.ours.done("POST", f"{path}/acknowledge", scope=OPERATE)
    assert known["acknowledged_by"].startswith("user ")
    assert (await site.theirs.ask("GET", path)).status_code == 404
    closed = await site.ours.done("POST", f"{path}/resolve", scope=OPERATE)
    assert closed["resolved_by"] == known["acknowledged_by"]
    assert (await site.ours.done("GET", "/incidents?open=true", scope=READ))["items"] == []
    assert len((await site.ours.done("GET", "/incidents?open=false", scope=READ))["items"]) == 1


async def test_channels_and_webhooks_are_the_admins(site: Site) -> None:
    for path in ("/notifications/channels", "/notifications/routes", "/webhooks", "/deliveries"):
        assert (await site.ours.ask("GET", path, OPERATE)).status_code == 403


async def test_the_same_create_sent_twice_makes_one(site: Site) -> None:
    body = {"name": "ci", "url": "https://ci.example/hook", "kinds": ["*"]}
    headers = {"Idempotency-Key": "once"}
    first = await site.ours.ask("POST", "/webhooks", json=body, headers=headers)
    second = await site.ours.ask("POST", "/webhooks", json=body, headers=headers)
    assert first.json()["id"] == second.json()["id"]
