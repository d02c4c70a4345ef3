"""What the dashboard tells besides lists: what was sent, which rules hold, who works, what fits."""

from typing import Any

from cadenza.application.ports.workers import Condition
from cadenza.domain.run import Outcome, RunStatus
from tests.factories import FAILED
from tests.web.html_pages import signed_in
from tests.web.support import READ, Site

ANSWER = Outcome(RunStatus.SUCCESS, status_code=200, body={"visitors": 5000})
REFUSED = Outcome(RunStatus.FAILURE, "connection", "the door was shut", status_code=503)
RULE = {"name": "busy", "when": "response.visitors > 4000", "then": {"interval": "2m"}}


async def _run(site: Site, endpoint: dict[str, Any], outcome: Outcome = ANSWER) -> str:
    await site.ours.done("POST", f"/endpoints/{endpoint['id']}/run")
    assert await site.backend.run_due(outcome) >= 1
    runs = await site.ours.done("GET", f"/runs?endpoint_id={endpoint['id']}")
    return runs["items"][0]["id"]


async def test_a_run_tells_what_it_sent_and_leads_to_those_beside_it(site: Site) -> None:
    endpoint = await site.ours.endpoint(
        cron="0 3 1 1 *", secret_headers={"X-Key": "s3cret"}, body="a & b"
    )
    ids = [await _run(site, endpoint) for _ in range(3)]
    visitor = await signed_in(site, site.ours)
    page = await visitor.open(f"/runs/{ids[1]}")
    assert {f"/runs/{ids[0]}", f"/runs/{ids[2]}"} <= set(page.links)
    assert "Idempotency-Key" in page.text
    assert "--data-raw 'a & b'" in page.text
    assert "s3cret" not in page.html
    assert "This is the request it would send now" not in page.text
    await site.ours.done("PATCH", f"/endpoints/{endpoint['id']}", {"body": "another"})
    page = await visitor.open(f"/runs/{ids[1]}")
    assert "This is the request it would send now" in page.text


async def test_rules_are_judged_now_on_the_page_of_an_endpoint(site: Site) -> None:
    job = await site.ours.job("shop", rules=[RULE])
    endpoint = await site.ours.endpoint(job, "traffic", cron="0 3 1 1 *")
    visitor = await signed_in(site, site.ours)
    page = await visitor.open(f"/endpoints/{endpoint['id']}")
    assert "false busy" in page.text
    await _run(site, endpoint)
    page = await visitor.open(f"/endpoints/{endpoint['id']}")
    assert "true busy response.visitors > 4000" in page.text


async def test_runs_are_found_by_error_and_status_and_counted(site: Site) -> None:
    endpoint = await site.ours.endpoint(cron="0 3 1 1 *")
    shut = await _run(site, endpoint, REFUSED)
    other = await _run(site, endpoint, FAILED)
    visitor = await signed_in(site, site.ours)
    for query, fitting, not_fitting in (
        ("error=door", shut, other),
        ("code=503", shut, other),
        ("code=500", other, shut),
    ):
        page = await visitor.open(f"/runs?{query}")
        assert f"/runs/{fitting}" in page.links, query
        assert f"/runs/{not_fitting}" not in page.links, query
    assert "Failed 2" in (await visitor.open("/runs?range=1h")).text
    assert "a status code" in (await visitor.open("/runs?code=soon")).text
    page = await visitor.open("/runs?error=nothing+like+it")
    assert "error: “nothing like it”" in page.text


async def test_the_search_finds_runs_and_everything_by_its_id(site: Site) -> None:
    endpoint = await site.ours.endpoint(cron="0 3 1 1 *")
    run = await _run(site, endpoint, REFUSED)
    visitor = await signed_in(site, site.ours)
    for text in ("door", "503"):
        assert f"/runs/{run}" in (await visitor.open(f"/search?q={text}")).links, text
    assert (await visitor.open(f"/search?q={run}")).path == f"/runs/{run}"
    stranger = await signed_in(site, site.theirs)
    assert "No matches" in (await stranger.open("/search?q=door")).text


async def test_settings_list_the_workers(site: Site) -> None:
    visitor = await signed_in(site, site.ours, READ)
    assert "No workers" in (await visitor.open("/settings")).text
    workers: Any = site.backend.stores.workers
    await workers.beat("runs-1", "scheduler", Condition("1.2.3", 3, 10))
    page = await visitor.open("/settings")
    assert "runs-1 alive scheduler 3 of 10 1.2.3" in page.text
