"""Two people edit the same, a form outlives its sign-in: nothing that was typed is lost."""

from tests.web.html_pages import Browser, Seen, signed_in
from tests.web.support import ADMIN, Site

FROM_OUR_PAGE = {"Sec-Fetch-Site": "same-origin"}


async def test_an_endpoint_that_was_saved_meanwhile_keeps_what_was_typed(site: Site) -> None:
    endpoint = await site.ours.endpoint(every="5m", timeout="10s")
    path = f"/endpoints/{endpoint['id']}"
    visitor = await signed_in(site, site.ours)
    edit = await visitor.open(f"{path}/edit")
    await site.ours.done("PATCH", path, {"every": "7m"})
    page = await visitor.send(edit, timeout="20s")
    assert page.status == 422
    assert "Someone else has saved a change" in page.text
    assert "Stored now: 7m" in page.text
    assert "Stored now: 10s" in page.text
    assert (page.form().fields["timeout"], page.form().fields["every"]) == ("20s", "5m")
    assert (await visitor.send(page, every="7m")).status == 200
    stored = await site.ours.done("GET", path)
    assert (stored["baseline"]["every_ms"], stored["target"]["timeout_ms"]) == (420_000, 20_000)


async def test_a_job_that_was_saved_meanwhile_keeps_what_was_typed(site: Site) -> None:
    job = await site.ours.job(description="the queue")
    path = f"/jobs/{job['id']}"
    visitor = await signed_in(site, site.ours)
    edit = await visitor.open(f"{path}/edit")
    await site.ours.done("PATCH", path, {"description": "the queue of orders"})
    page = await visitor.send(edit, description="the long queue")
    assert "Stored now: the queue of orders" in page.text
    assert page.form().fields["description"] == "the long queue"
    assert (await visitor.send(page)).status == 200
    assert (await site.ours.done("GET", path))["description"] == "the long queue"


async def test_a_rule_that_was_saved_meanwhile_keeps_what_was_typed(site: Site) -> None:
    rule = {"name": "busy", "when": "response.n > 3", "then": {"interval": "1m"}}
    job = await site.ours.job(rules=[rule])
    path = f"/jobs/{job['id']}"
    visitor = await signed_in(site, site.ours)
    (address,) = {
        link for link in (await visitor.open(path)).links if link.startswith(f"{path}/rules/")
    } - {f"{path}/rules/new"}
    edit = await visitor.open(address)
    await site.ours.done("PATCH", path, {"rules": [{**rule, "reason": "by another"}]})
    page = await visitor.send(edit, when="response.n > 5")
    assert page.status == 422
    assert "Stored now: response.n > 3" in page.text
    assert (await visitor.send(page)).status == 200
    (kept,) = (await site.ours.done("GET", path))["rules"]
    assert kept["when"] == "response.n > 5"


async def _sent_without_a_sign_in(site: Site, visitor: Browser) -> Seen:
    new = await visitor.open("/jobs/new")
    fields = {**new.form().fields, "name": "typed for long", "description": "one\ntwo"}
    await visitor.send(await visitor.open("/"), "/sign-out")
    return await visitor.post("/jobs/new", fields, headers=FROM_OUR_PAGE)


async def test_a_form_whose_sign_in_has_ended_is_sent_again_after_the_next(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    page = await _sent_without_a_sign_in(site, visitor)
    assert (page.status, "Your sign-in has ended" in page.text) == (401, True)
    assert "/sign-in" in page.links
    await visitor.sign_in(site.ours.keys[ADMIN])
    again = await visitor.post("/jobs/new", page.form("/jobs/new").fields, headers=FROM_OUR_PAGE)
    assert (again.status, "Send the form again" in again.text) == (403, True)
    assert (await site.ours.done("GET", "/jobs"))["items"] == []
    done = await visitor.send(again, "/jobs/new")
    assert "Job created" in done.text
    (job,) = (await site.ours.done("GET", "/jobs"))["items"]
    assert (job["name"], job["description"]) == ("typed for long", "one\ntwo")


async def test_what_another_site_sends_is_not_shown_to_be_sent_again(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    fields = {"name": "from elsewhere"}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {}):
        page = await visitor.post("/jobs/new", fields, headers=headers)
        assert page.status == 403
        assert "from elsewhere" not in page.html
