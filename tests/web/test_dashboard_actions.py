"""What a person does on the dashboard is what the API would do; what is wrong is told at its
field."""

from typing import Any
from uuid import UUID

import pytest

from cadenza.application.ports.claims import ClaimRequest
from tests.factories import seconds
from tests.web.html_pages import Browser, browser, signed_in
from tests.web.suggesting import suggest_interval
from tests.web.support import Site


async def _endpoint(site: Site, endpoint: dict[str, Any]) -> dict[str, Any]:
    return await site.ours.done("GET", f"/endpoints/{endpoint['id']}")


async def test_a_job_is_created_changed_paused_resumed_and_archived(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    form = await visitor.open("/jobs/new")
    page = await visitor.send(form, name="shop", description="Watch it.", llm="off")
    assert "Job created" in page.text
    path = page.path
    page = await visitor.send(await visitor.open(f"{path}/edit"), name="store")
    assert "store" in page.text
    page = await visitor.send(page, f"{path}/pause")
    assert "paused" in page.text
    job = await site.ours.done("GET", f"/jobs/{path.rsplit('/', 1)[1]}")
    assert (job["name"], job["description"], job["planner"]["llm"]) == (
        "store",
        "Watch it.",
        "off",
    )
    page = await visitor.send(page, f"{path}/resume")
    page = await visitor.send(page, f"{path}/archive")
    assert "archived" in page.text
    assert [form.action for form in page.forms if path in form.action] == [f"{path}/restore"]


async def test_what_is_wrong_is_told_at_its_field_and_what_was_typed_stays(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    job = await site.ours.job("taken")
    page = await visitor.send(await visitor.open("/jobs/new"), name="taken", extra_runs="lots")
    assert page.status == 422
    assert page.form().fields["name"] == "taken"
    assert "number" in page.text.lower()
    page = await visitor.send(await visitor.open("/jobs/new"), name="taken")
    assert page.status == 422
    assert "exists" in page.text
    new = await visitor.open(f"/jobs/{job['id']}/endpoints/new")
    page = await visitor.send(new, name="a", url="ftp://x/", every="5 minutes")
    assert page.status == 422
    assert page.form().fields["every"] == "5 minutes"
    assert "5m" in page.text
    assert await site.ours.done("GET", "/endpoints") == {"items": [], "next": None}


async def test_somebody_elses_change_is_not_overwritten(site: Site) -> None:
    job = await site.ours.job("shop", description="old")
    visitor = await signed_in(site, site.ours)
    form = await visitor.open(f"/jobs/{job['id']}/edit")
    await site.ours.done("PATCH", f"/jobs/{job['id']}", {"description": "newer"})
    page = await visitor.send(form, description="mine")
    assert page.status == 422
    assert "saved a change" in page.text
    assert (await site.ours.done("GET", f"/jobs/{job['id']}"))["description"] == "newer"


async def test_an_endpoint_is_created_and_changed_and_its_secrets_are_kept(site: Site) -> None:
    job = await site.ours.job()
    visitor = await signed_in(site, site.ours)
    page = await visitor.send(
        await visitor.open(f"/jobs/{job['id']}/endpoints/new"),
        name="orders",
        baseline="cron",
        cron="0 9 * * mon-fri",
        timezone="Europe/Paris",
        min_interval="1m",
        url="https://shop.example/orders",
        method="POST",
        headers="Accept: text/plain\nX-One: 1",
        secret_headers="X-Key: s3cret-of-the-form",
        body='{"a": 1}',
        success_statuses="200, 404",
    )
    assert page.status == 200, page.text
    assert "s3cret-of-the-form" not in page.html
    stored = (await site.ours.done("GET", "/endpoints"))["items"][0]
    assert stored["baseline"]["cron"] == "0 9 * * mon-fri"
    assert stored["target"]["secret_headers"] == ["X-Key"]
    assert stored["target"]["success_statuses"] == [200, 404]
    path = f"/endpoints/{stored['id']}"
    edit = await visitor.open(f"{path}/edit")
    assert edit.form().fields["secret_headers"] == "X-Key: ***"
    page = await visitor.send(edit, baseline="every", every="10m", headers="", min_interval="")
    assert page.status == 200, page.text
    changed = await _endpoint(site, stored)
    assert changed["baseline"]["every_ms"] == 600_000
    assert changed["min_interval_ms"] is None
    assert changed["target"]["headers"] == {}
    assert changed["target"]["secret_headers"] == ["X-Key"]
    opened = await site.backend.stores.endpoints.get_endpoint(
        site.ours.tenant_id, UUID(stored["id"]), with_secrets=True
    )
    assert opened.secrets["X-Key"].value == "s3cret-of-the-form"


async def test_an_endpoint_that_is_saved_as_it_was_is_as_it_was(site: Site) -> None:
    endpoint = await site.ours.endpoint(
        headers={"Accept": "text/plain"}, body='{"a": 1}', timeout="5s", success_when="body.ok"
    )
    visitor = await signed_in(site, site.ours)
    before = await _endpoint(site, endpoint)
    await visitor.send(await visitor.open(f"/endpoints/{endpoint['id']}/edit"))
    after = await _endpoint(site, endpoint)
    assert after["revision"] == before["revision"]


async def test_buttons_steer_an_endpoint(site: Site) -> None:
    endpoint = await site.ours.endpoint()
    path = f"/endpoints/{endpoint['id']}"
    visitor = await signed_in(site, site.ours)
    page = await visitor.send(await visitor.open(path), f"{path}/pause")
    assert [pause["by"] for pause in (await _endpoint(site, endpoint))["pauses"]] == ["person"]
    page = await visitor.send(page, f"{path}/resume")
    assert (await _endpoint(site, endpoint))["pauses"] == []
    hint = await visitor.open(f"{path}/hint")
    page = await visitor.send(hint, kind="interval", interval="1m", ttl="30m", reason="a sale")
    assert "a sale" in page.text
    (stored,) = (await _endpoint(site, endpoint))["hints"]
    assert (stored["interval_ms"], stored["reason"]) == (60_000, "a sale")
    page = await visitor.send(page, f"{path}/clear-hints")
    assert (await _endpoint(site, endpoint))["hints"] == []
    page = await visitor.send(page, f"{path}/run")
    assert await site.backend.run_due() == 1
    page = await visitor.send(await visitor.open(path), f"{path}/run")
    await site.backend.queue.claim_due(ClaimRequest("test", 1, seconds(30)))
    refused = await visitor.send(page, f"{path}/run")
    assert (refused.path, "a run of it is in flight" in refused.text) == (path, True)


async def test_a_pause_ends_when_the_form_says(site: Site) -> None:
    endpoint = await site.ours.endpoint()
    path = f"/endpoints/{endpoint['id']}"
    visitor = await signed_in(site, site.ours)
    visitor.client.cookies.set("cadenza_zone", "Asia%2FTokyo")
    form = await visitor.open(f"{path}/pause-until")
    await visitor.send(form, until="2100-01-02T09:00", reason="a long deploy")
    (pause,) = (await _endpoint(site, endpoint))["pauses"]
    assert (pause["until"], pause["reason"]) == ("2100-01-02T00:00:00Z", "a long deploy")
    wrong = await visitor.send(form, **{"for": "a while"})
    assert wrong.status == 422
    assert "5m" in wrong.text


async def test_a_suggestion_is_accepted_once(site: Site) -> None:
    endpoint = await site.ours.endpoint()
    session = await suggest_interval(site, site.ours, endpoint)
    visitor = await signed_in(site, site.ours)
    page = await visitor.open("/planner")
    path = f"/planner/{session.id}/accept"
    accepted = await visitor.send(page, path)
    assert "Suggestion accepted" in accepted.text
    assert (await _endpoint(site, endpoint))["hints"][0]["interval_ms"] == 60_000
    assert "No open suggestions" in accepted.text
    again = await visitor.send(page, path)
    assert "it was accepted by" in again.text


async def test_the_planner_is_stopped_everywhere_with_one_click(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    page = await visitor.send(await visitor.open("/planner"), "/planner/stop")
    tenant = await site.ours.done("GET", "/tenant")
    assert {tenant["rules_mode"], tenant["llm_mode"], tenant["detectors_mode"]} == {"off"}
    assert not [form for form in page.forms if form.action == "/planner/stop"]


async def test_a_key_is_made_shown_once_and_revoked(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    settings = await visitor.open("/settings")
    page = await visitor.send(settings, "/settings/keys", name="robot", scope="read")
    token = next(word for word in page.text.split() if word.startswith("cdz_"))
    robot = await signed_in_with(site, token)
    assert (await robot.open("/jobs")).path == "/jobs"
    settings = await visitor.open("/settings")
    assert token not in settings.html
    key = next(k for k in (await site.ours.done("GET", "/keys"))["items"] if k["name"] == "robot")
    await visitor.send(settings, f"/settings/keys/{key['id']}/revoke")
    assert (await robot.open("/jobs")).path == "/sign-in"


async def signed_in_with(site: Site, key: str) -> Browser:
    visitor = browser(site)
    await visitor.sign_in(key)
    return visitor


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"baseline": "every", "every": "5m"}, "in 4 min 59 s"),
        ({"baseline": "cron", "cron": "0 9 * * *", "timezone": "Asia/Tokyo"}, "09:00:00 JST"),
        ({"baseline": "cron", "cron": "61 * * * *"}, "cron"),
        ({"baseline": "every", "every": "5m", "min_interval": "1h"}, "less often"),
        ({"baseline": "on_demand"}, "only when a hint or a person asks"),
        ({"baseline": "every", "every": "soon"}, "5m"),
    ],
)
async def test_a_draft_shows_its_next_runs_or_what_is_wrong(
    site: Site, fields: dict[str, str], words: str
) -> None:
    job = await site.ours.job()
    visitor = await signed_in(site, site.ours)
    form = (await visitor.open(f"/jobs/{job['id']}/endpoints/new")).form()
    page = await visitor.post("/drafts/preview", {**form.fields, **fields})
    assert page.status == 200
    assert words in page.text, page.text


async def test_the_api_previews_a_draft(site: Site) -> None:
    draft = {"cron": "0 9 * * mon-fri", "timezone": "Europe/Paris", "min_interval": "3d"}
    preview = await site.ours.done("POST", "/preview?count=3", draft)
    assert preview["next_runs"][0]["source"] == "baseline-cron"
    assert len(preview["next_runs"]) == 3
    assert "less often" in preview["warnings"][0]
    for wrong in ({}, {"every": "5m", "cron": "* * * * *"}, {"cron": "nonsense"}, {"url": "x"}):
        assert (await site.ours.ask("POST", "/preview", json=wrong)).status_code == 422, wrong


async def test_a_job_is_paused_until_a_time_with_a_reason(site: Site) -> None:
    endpoint = await site.ours.endpoint()
    path = f"/jobs/{endpoint['job_id']}"
    visitor = await signed_in(site, site.ours)
    form = await visitor.open(f"{path}/pause-until")
    page = await visitor.send(form, until="2100-01-02T09:00", reason="a long deploy", **{"for": ""})
    assert "2100-01-02 09:00:00 UTC" in page.text
    (pause,) = (await _endpoint(site, endpoint))["pauses"]
    assert (pause["until"], pause["by"]) == (
        "2100-01-02T00:00:00Z".replace("00:00", "09:00"),
        "job",
    )
    wrong = await visitor.send(form, **{"for": "a while"})
    assert wrong.status == 422


async def test_a_button_comes_back_to_the_page_it_was_on(site: Site) -> None:
    job = await site.ours.job("shop")
    visitor = await signed_in(site, site.ours)
    page = await visitor.open("/jobs?search=sho")
    after = await visitor.send(page, f"/jobs/{job['id']}/pause")
    assert str(after.answer.url).endswith("/jobs?search=sho")
    assert "Job paused" in after.text
    form = after.form(f"/jobs/{job['id']}/resume")
    away = await visitor.post(form.action, {**form.fields, "back": "//evil.example/"})
    assert away.path == f"/jobs/{job['id']}"


async def test_every_limit_of_planners_is_kept_and_changed_in_the_form_of_a_job(site: Site) -> None:
    planner = {"max_pause": "6h", "min_gap": "10m", "model": "big", "prompt": "Be brief.",
               "tokens_per_day": 1000, "money_per_day": 1.5, "relax": 2}  # fmt: skip
    job = await site.ours.job("shop", planner=planner)
    visitor = await signed_in(site, site.ours)
    path = f"/jobs/{job['id']}"
    before = (await site.ours.done("GET", path))["planner"]
    edit = await visitor.open(f"{path}/edit")
    await visitor.send(edit)
    assert (await site.ours.done("GET", path))["planner"] == before
    await visitor.send(await visitor.open(f"{path}/edit"), tokens_per_day="", max_pause="0")
    after = (await site.ours.done("GET", path))["planner"]
    assert (after["tokens_per_day"], after["max_pause"], after["model"]) == (None, 0, "big")


async def test_stopping_everywhere_stops_jobs_with_modes_of_their_own_and_starting_gives_them_back(
    site: Site,
) -> None:
    own = await site.ours.job("own", planner={"llm": "act", "rules": "off"})
    await site.ours.job("usual")
    await site.ours.done("PATCH", "/tenant", {"llm_mode": "act", "rules_mode": "advise"})
    visitor = await signed_in(site, site.ours)
    stopped = await visitor.send(await visitor.open("/planner"), "/planner/stop")
    assert "The planner was stopped" in stopped.text
    planner = (await site.ours.done("GET", f"/jobs/{own['id']}"))["planner"]
    assert (planner["llm"], planner["rules"]) == ("off", "off")
    await visitor.send(stopped, "/planner/start")
    planner = (await site.ours.done("GET", f"/jobs/{own['id']}"))["planner"]
    assert (planner["llm"], planner["rules"], planner["detectors"]) == ("act", "off", None)
    tenant = await site.ours.done("GET", "/tenant")
    modes = (tenant["rules_mode"], tenant["llm_mode"], tenant["detectors_mode"])
    assert modes == ("advise", "act", "act")


async def test_starting_leaves_alone_what_was_set_meanwhile(site: Site) -> None:
    own = await site.ours.job("own", planner={"llm": "act"})
    visitor = await signed_in(site, site.ours)
    stopped = await visitor.send(await visitor.open("/planner"), "/planner/stop")
    await site.ours.done("PATCH", f"/jobs/{own['id']}", {"planner": {"llm": "advise"}})
    await visitor.send(stopped, "/planner/start")
    planner = (await site.ours.done("GET", f"/jobs/{own['id']}"))["planner"]
    assert planner["llm"] == "advise"


async def test_a_key_is_rotated_with_an_overlap_and_made_for_somebody_else(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    tenant = f"/tenants/{site.ours.tenant_id}"
    bob = (await site.admin("POST", f"{tenant}/users", json={"name": "bob"})).json()
    settings = await visitor.open("/settings")
    await visitor.send(settings, "/settings/keys", name="robot", scope="read", user=bob["id"])
    key = next(k for k in (await site.ours.done("GET", "/keys"))["items"] if k["name"] == "robot")
    assert key["user_id"] == bob["id"]
    settings = await visitor.open("/settings")
    page = await visitor.send(settings, f"/settings/keys/{key['id']}/rotate", overlap="1d")
    assert "cdz_" in page.text
    old = next(k for k in (await site.ours.done("GET", "/keys"))["items"] if k["id"] == key["id"])
    assert old["expires_at"] is not None
    assert old["revoked_at"] is None
    wrong = await visitor.send(settings, f"/settings/keys/{key['id']}/rotate", overlap="a while")
    assert "5m" in wrong.text


async def test_a_call_is_copied_as_curl_without_its_secrets(site: Site) -> None:
    endpoint = await site.ours.endpoint(
        method="PUT",
        headers={"X-It's": "a 'quote'"},
        secret_headers={"X-Key": "s3cret"},
        body="a & b",
        max_redirects=2,
    )
    visitor = await signed_in(site, site.ours)
    page = await visitor.open(f"/endpoints/{endpoint['id']}")
    for part in (
        "curl --include --max-time 30",
        "--location --max-redirs 2",
        "--request PUT",
        "--header 'X-Key: ***'",
        "--data-raw 'a & b'",
        "https://shop.example/orders",
    ):
        assert part in page.text, part
    assert "s3cret" not in page.html


async def test_a_range_without_runs_leads_to_the_last_that_was(site: Site) -> None:
    endpoint = await site.ours.endpoint()
    await site.ours.done("POST", f"/endpoints/{endpoint['id']}/run")
    await site.backend.run_due()
    visitor = await signed_in(site, site.ours)
    page = await visitor.open("/runs?range=1h&status=cancelled")
    assert "No matches" in page.text
    assert "/runs?range=1h" in page.links  # what is left when that filter is dropped


async def test_several_endpoints_are_steered_at_once_and_the_filters_stay(site: Site) -> None:
    job = await site.ours.job()
    ids = [(await site.ours.endpoint(job, f"e{number}"))["id"] for number in range(3)]
    stranger = await site.theirs.endpoint()
    visitor = await signed_in(site, site.ours)
    page = await visitor.open("/jobs/endpoints?sort=created_at")
    form = page.form("/jobs/endpoints/bulk")
    fields = {**form.fields, "act": "pause", "reason": "a deploy"}
    chosen: Any = {**fields, "id": [*ids[:2], stranger["id"]]}
    after = await visitor.post(form.action, chosen)
    assert str(after.answer.url).endswith("?sort=created_at")
    assert "2 endpoints paused, 1 gone." in after.text
    pauses = [(await _endpoint(site, {"id": one}))["pauses"] for one in ids]
    assert [len(pause) for pause in pauses] == [1, 1, 0]
    assert pauses[0][0]["reason"] == "a deploy"
    assert (await site.theirs.done("GET", f"/endpoints/{stranger['id']}"))["pauses"] == []
    after = await visitor.post(form.action, {**chosen, "act": "resume", "id": ids})
    assert "2 endpoints resumed, 1 already so." in after.text
    for wrong, words in (
        ({"id": []}, "Select at least one endpoint first."),
        ({"id": ["7"]}, "ids of endpoints"),
        ({"act": "dance"}, "one of pause"),
    ):
        after = await visitor.post(form.action, {**chosen, **wrong})
        assert words in after.text, wrong


async def test_a_suggestion_is_dismissed_and_that_undone(site: Site) -> None:
    endpoint = await site.ours.endpoint()
    session = await suggest_interval(site, site.ours, endpoint)
    visitor = await signed_in(site, site.ours)
    path = f"/planner/{session.id}"
    after = await visitor.send(await visitor.open("/planner"), f"{path}/dismiss")
    assert "No open suggestions" in after.text
    shown = await visitor.open(path)
    assert "dismissed by" in shown.text
    after = await visitor.send(shown, f"{path}/restore")
    assert "Dismissal undone." in after.text
    assert "Run every 1 min, for 30 min" in (await visitor.open("/planner")).text


async def test_all_that_match_on_every_page_are_paused_after_their_number_is_shown(
    site: Site,
) -> None:
    job = await site.ours.job()
    for number in range(51):
        await site.ours.endpoint(job, f"probe {number}")
    await site.ours.endpoint(job, "apart")
    visitor = await signed_in(site, site.ours)
    listed = await visitor.open("/jobs/endpoints?search=probe")
    assert "50 endpoints on this page" in listed.text
    matching = await visitor.open("/jobs/endpoints/matching?search=probe")
    assert "51 endpoints" in matching.text
    form = next(form for form in matching.forms if "matching" in form.action)
    sent = {**form.fields, "act": "pause", "reason": "night"}
    done = await visitor.post(form.action, sent)
    assert "51 endpoints paused" in done.text
    assert str(done.answer.url).endswith("/jobs/endpoints?search=probe")
    counts = await site.ours.done("GET", "/endpoint-actions/matching?state=paused")
    assert counts["count"] == 51
    await site.ours.endpoint(job, "probe 51")
    again = await visitor.post(form.action, {**sent, "act": "resume"})
    assert "52 match now" in again.text
    assert (await site.ours.done("GET", "/endpoint-actions/matching?state=paused"))["count"] == 51


async def test_a_signing_key_is_made_and_shown_once(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    page = await visitor.send(await visitor.open("/settings"), "/settings/signing-keys")
    assert page.status == 200
    assert "whsec_" in page.text
    assert "whsec_" not in (await visitor.open("/settings")).text


async def test_a_form_that_is_too_large_is_told_so_on_a_page(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    form = await visitor.open("/jobs/new")
    page = await visitor.send(form, name="shop", description="x" * 1_100_000)
    assert page.status == 413
    assert "1048576 bytes" in page.text
