"""What is archived is found on the dashboard, restored, or deleted once a person has read what
goes."""

from typing import Any

import pytest

from cadenza.application import archive
from cadenza.application.ports.claims import ClaimRequest
from tests.factories import seconds
from tests.web.html_pages import Scope, signed_in
from tests.web.support import Site


async def _archived(site: Site, runs: int = 0) -> dict[str, Any]:
    endpoint = await site.ours.endpoint(on_demand=True)
    for _ in range(runs):
        await site.ours.done("POST", f"/endpoints/{endpoint['id']}/run")
        await site.backend.run_due()
    return await site.ours.done("POST", f"/endpoints/{endpoint['id']}/archive")


async def _archived_job(site: Site, runs: int = 0) -> str:
    endpoint = await _archived(site, runs)
    await site.ours.done("POST", f"/jobs/{endpoint['job_id']}/archive")
    return f"/jobs/{endpoint['job_id']}"


async def test_an_endpoint_is_found_among_the_archived_and_restored(site: Site) -> None:
    endpoint = await _archived(site)
    path = f"/endpoints/{endpoint['id']}"
    visitor = await signed_in(site, site.ours)
    assert "/jobs/endpoints?state=archived" in (await visitor.open("/jobs/endpoints")).links
    assert path in (await visitor.open("/jobs/endpoints?state=archived")).links
    page = await visitor.open(path)
    assert "It no longer runs" in page.text
    page = await visitor.send(page, f"{path}/restore")
    assert (page.path, "Endpoint restored." in page.text) == (path, True)
    assert (await site.ours.done("GET", path))["archived_at"] is None


async def test_a_job_is_found_among_the_archived_and_restored_with_its_endpoints(
    site: Site,
) -> None:
    endpoint = await site.ours.endpoint()
    path = f"/jobs/{endpoint['job_id']}"
    await site.ours.done("POST", f"{path}/archive")
    visitor = await signed_in(site, site.ours)
    page = await visitor.open("/jobs?archived=yes")
    assert f"{path}/delete" in page.links
    assert f"/endpoints/{endpoint['id']}" in (await visitor.open(path)).links
    page = await visitor.send(page, f"{path}/restore")
    assert str(page.answer.url).endswith("/jobs?archived=yes")
    assert "Job restored, with 1 endpoint." in page.text
    assert (await site.ours.done("GET", f"/endpoints/{endpoint['id']}"))["archived_at"] is None


async def test_what_cannot_be_restored_says_why(site: Site) -> None:
    endpoint = await _archived(site)
    path = f"/endpoints/{endpoint['id']}"
    visitor = await signed_in(site, site.ours)
    page = await visitor.open(path)
    await site.ours.done("POST", f"/jobs/{endpoint['job_id']}/archive")
    refused = await visitor.send(page, f"{path}/restore")
    assert (refused.path, "restore that" in refused.text) == (path, True)


async def test_what_goes_with_an_endpoint_is_told_before_it_is_deleted(site: Site) -> None:
    endpoint = await _archived(site, runs=3)
    path = f"/endpoints/{endpoint['id']}"
    visitor = await signed_in(site, site.ours)
    assert f"{path}/delete" in (await visitor.open(path)).links
    question = await visitor.open(f"{path}/delete")
    assert "and 3 runs and sessions. It cannot be undone." in question.text
    assert (await site.ours.ask("GET", path)).status_code == 200
    page = await visitor.send(question)
    assert page.path == f"/jobs/{endpoint['job_id']}"
    assert "orders deleted, with 3 runs and sessions." in page.text
    assert (await site.ours.ask("GET", path)).status_code == 404


async def test_a_job_is_deleted_with_its_endpoints(site: Site) -> None:
    path = await _archived_job(site, runs=2)
    visitor = await signed_in(site, site.ours)
    question = await visitor.open(f"{path}/delete")
    assert "and 1 endpoint, 2 runs and sessions." in question.text
    page = await visitor.send(question)
    assert (page.path, " deleted" in page.text) == ("/jobs", True)
    assert (await site.ours.ask("GET", path)).status_code == 404


async def test_more_history_than_goes_at_once_goes_with_another_press(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "BATCH", 2)
    monkeypatch.setattr(archive, "MOST_BATCHES", 1)
    endpoint = await _archived(site, runs=3)
    path = f"/endpoints/{endpoint['id']}"
    visitor = await signed_in(site, site.ours)
    page = await visitor.send(await visitor.open(f"{path}/delete"))
    assert page.path == f"{path}/delete"
    assert "2 runs and sessions are gone, and there are more: delete again" in page.text
    assert "and 1 run and sessions" in page.text
    assert " deleted" in (await visitor.send(page)).text


async def test_what_is_not_archived_or_still_runs_is_not_deleted(site: Site) -> None:
    endpoint = await site.ours.endpoint(on_demand=True)
    path = f"/endpoints/{endpoint['id']}"
    visitor = await signed_in(site, site.ours)
    page = await visitor.open(f"{path}/delete")
    assert (page.path, "Archive it first" in page.text) == (path, True)
    await site.ours.done("POST", f"{path}/run")
    await site.backend.queue.claim_due(ClaimRequest("test", 1, seconds(30)))
    await site.ours.done("POST", f"{path}/archive")
    refused = await visitor.send(await visitor.open(f"{path}/delete"))
    assert (refused.path, "in flight" in refused.text) == (path, True)


async def test_who_may_only_read_sees_neither_restore_nor_delete(site: Site) -> None:
    endpoint = await _archived(site)
    path = f"/endpoints/{endpoint['id']}"
    reader = await signed_in(site, site.ours, Scope.READ)
    page = await reader.open(path)
    assert "archived" in page.text
    assert "Restore" not in page.text
    assert f"{path}/delete" not in page.links
    token = page.form("/sign-out").fields
    for act in ("restore", "delete"):
        assert (await reader.post(f"{path}/{act}", token)).status == 403
    assert (await reader.open(f"{path}/delete")).status == 403
    stranger = await signed_in(site, site.theirs)
    assert (await stranger.open(f"{path}/delete")).status == 404
