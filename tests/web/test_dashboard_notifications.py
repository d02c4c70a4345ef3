"""Incidents and notifications on the dashboard."""

from tests.web.furniture import MARK, furnish
from tests.web.html_pages import signed_in
from tests.web.support import Site

PAGE = "/settings/notifications"
TOKEN = "s3cr3t-token-of-a-channel"


async def test_a_channel_gets_a_route_and_is_tested_and_deleted(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    page = await visitor.open(PAGE)
    page = await visitor.send(
        page, f"{PAGE}/channels", name="ops", url=f"json://hooks.example/{TOKEN}"
    )
    assert "ops" in page.text
    assert TOKEN not in page.html
    (channel,) = (await site.ours.done("GET", "/notifications/channels"))["items"]
    fields = {"quiet": "22:00-07:00", "timezone": "Europe/Berlin", "min_severity": "error"}
    page = await visitor.send(page, f"{PAGE}/routes", channel_id=channel["id"], **fields)
    assert "22:00–07:00 Europe/Berlin" in page.text
    page = await visitor.send(page, f"{PAGE}/channels/{channel['id']}/test")
    assert "Cadenza: a test" in page.text
    (delivery,) = (await site.ours.done("GET", "/deliveries"))["items"]
    await visitor.send(page, f"{PAGE}/deliveries/{delivery['id']}/resend")
    assert len((await site.ours.done("GET", "/deliveries"))["items"]) == 2
    (route,) = (await site.ours.done("GET", "/notifications/routes"))["items"]
    page = await visitor.send(page, f"{PAGE}/routes/{route['id']}/delete")
    page = await visitor.send(page, f"{PAGE}/channels/{channel['id']}/delete")
    assert "No channels yet" in page.text


async def test_what_is_wrong_is_told_at_its_field_and_a_url_is_not_sent_back(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    page = await visitor.open(PAGE)
    wrong = await visitor.send(page, f"{PAGE}/channels", name="ops", url=f"syslog://{TOKEN}")
    assert wrong.status == 422
    assert "would act on this machine" in wrong.text
    assert TOKEN not in wrong.html
    wrong = await visitor.send(
        page, f"{PAGE}/webhooks", hook_name="ci", hook_url="ftp://x", hook_kinds="run.failed"
    )
    assert wrong.status == 422
    assert "ftp://x" in wrong.html


async def test_a_webhook_is_made_and_deleted(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    page = await visitor.open(PAGE)
    page = await visitor.send(
        page,
        f"{PAGE}/webhooks",
        hook_name="ci",
        hook_url="https://ci.example/1",
        hook_kinds="run.failed, job.*",
    )
    (webhook,) = (await site.ours.done("GET", "/webhooks"))["items"]
    assert webhook["kinds"] == ["run.failed", "job.*"]
    page = await visitor.send(page, f"{PAGE}/webhooks/{webhook['id']}/test")
    assert "webhook.test" in page.text
    page = await visitor.send(page, f"{PAGE}/webhooks/{webhook['id']}/delete")
    assert "No webhooks yet" in page.text


async def test_an_incident_is_acknowledged_and_closed(site: Site) -> None:
    await furnish(site, site.ours)
    visitor = await signed_in(site, site.ours)
    assert MARK in (await visitor.open("/")).text
    page = await visitor.open("/activity/incidents")
    path = f"/activity/incidents/{site.ours.ids['incidents']}"
    page = await visitor.send(page, f"{path}/acknowledge")
    assert "acknowledged by" in page.text
    page = await visitor.send(page, f"{path}/resolve")
    assert "No open incidents" in page.text
    assert MARK in (await visitor.open("/activity/incidents?state=all")).text


async def test_the_log_of_deliveries_has_its_filters_in_the_address(site: Site) -> None:
    await furnish(site, site.ours)
    visitor = await signed_in(site, site.ours)
    webhook, log = site.ours.ids["webhooks"], f"{PAGE}/deliveries"
    waiting = await visitor.open(f"{log}?status=waiting&to={webhook}")
    assert "run.failed" in waiting.text
    nothing = await visitor.open(f"{log}?status=failed&to={webhook}")
    assert "No matches" in nothing.text
    assert f"{log}?to={webhook}" in nothing.links  # what to drop
    resend = f"{log}/{site.ours.ids['deliveries']}/resend"
    sent = await visitor.send(waiting, resend)
    assert sent.html.count(f"{log}/") == 1 + waiting.html.count(f"{log}/")
    assert str(sent.answer.url).endswith(f"?status=waiting&to={webhook}")


async def test_a_webhook_and_a_channel_are_disabled_and_enabled_again(site: Site) -> None:
    await furnish(site, site.ours)
    visitor = await signed_in(site, site.ours)
    for kind, path in (("webhooks", "/webhooks"), ("channels", "/notifications/channels")):
        action = f"{PAGE}/{kind}/{site.ours.ids[kind]}/enable"
        page = await visitor.send(await visitor.open(PAGE), action)
        assert "is disabled" in page.text
        assert not (await site.ours.done("GET", path))["items"][0]["enabled"]
        await visitor.send(page, action)
        assert (await site.ours.done("GET", path))["items"][0]["enabled"]


async def test_a_route_and_a_webhook_may_be_of_one_job(site: Site) -> None:
    await furnish(site, site.ours)
    visitor = await signed_in(site, site.ours)
    job = site.ours.ids["jobs"]
    page = await visitor.send(
        await visitor.open(PAGE),
        f"{PAGE}/routes",
        job_id=job,
        kinds="late",
        group="1m",
        recovery="",
    )
    assert f"of {MARK} job" in page.text
    route = (await site.ours.done("GET", "/notifications/routes"))["items"][-1]
    assert (route["job_id"], route["kinds"], route["group_ms"]) == (job, ["late"], 60_000)
    hook = {"hook_name": "ci", "hook_url": "https://ci.example/1", "hook_kinds": "run.*"}
    await visitor.send(page, f"{PAGE}/webhooks", **hook, hook_job_id=job)
    webhooks = (await site.ours.done("GET", "/webhooks"))["items"]
    assert [one["job_id"] for one in webhooks if one["name"] == "ci"] == [job]


async def test_incidents_are_filtered_by_kind_and_job_and_stay_so_after_an_action(
    site: Site,
) -> None:
    await furnish(site, site.ours)
    visitor = await signed_in(site, site.ours)
    path = "/activity/incidents"
    kept = await visitor.open(f"{path}?kind=quota")
    assert MARK in kept.text
    action = f"{path}/{site.ours.ids['incidents']}/acknowledge"
    assert str((await visitor.send(kept, action)).answer.url).endswith("?kind=quota")
    other = await visitor.open(f"{path}?kind=late&job={site.ours.ids['jobs']}")
    assert "No matches" in other.text
    assert f"{path}?kind=late" in other.links
    assert "No incidents yet" in (await visitor.open(f"{path}?state=resolved")).text
