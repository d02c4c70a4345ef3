"""`POST /runs/{id}/result`: with the token of a run, and without any key."""

from typing import Any
from uuid import uuid4

import pytest

from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain.run import Claim, FinishedRun
from tests.factories import OK, seconds
from tests.web.support import Site

HEADER = "Cadenza-Result-Token"
DONE = {"status": "success", "body": {"queue_depth": 12}}


async def waiting(site: Site) -> tuple[Claim, str]:
    """A run that is under way, and its token."""
    made = await site.ours.endpoint(on_demand=True, await_result=True, url="https://x.example/")
    await site.ours.done("POST", f"/endpoints/{made['id']}/run")
    (claim,) = (await site.backend.queue.claim_due(ClaimRequest("t", 10, seconds(60)))).claims
    token, _ = await site.app.state.dependencies.results.expect(claim)
    return claim, token


async def report(site: Site, run_id: object, token: str | None, body: Any) -> Any:
    headers = {} if token is None else {HEADER: token}
    path = f"/api/v1/runs/{run_id}/result"
    return await site.client.post(path, json=body, headers=headers)


async def test_a_result_is_reported_once_and_the_same_again_is_answered_the_same(
    site: Site,
) -> None:
    claim, token = await waiting(site)
    answers = [await report(site, claim.run_id, token, DONE) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json() == {
        "run_id": str(claim.run_id),
        "status": "success",
    }  # fmt: skip
    other = await report(site, claim.run_id, token, {"status": "failure", "message": "no"})
    assert other.status_code == 409
    assert "another result" in other.json()["detail"]


async def test_a_wrong_token_an_unknown_run_and_another_runs_token_look_alike(site: Site) -> None:
    claim, token = await waiting(site)
    wrong = ((claim.run_id, "cdzr_wrong"), (uuid4(), token), (claim.run_id, "x" * 2000))
    answers = [await report(site, run_id, other, DONE) for run_id, other in wrong]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert len({answer.json()["detail"] for answer in answers}) == 1


async def test_without_a_token_nothing_is_read(site: Site) -> None:
    claim, _ = await waiting(site)
    path = f"/api/v1/runs/{claim.run_id}/result"
    headers = {"Content-Type": "application/json", "Authorization": "Bearer cdz_x"}
    answer = await site.client.post(path, content=b"{broken", headers=headers)
    assert answer.status_code == 401
    assert HEADER in answer.json()["detail"]


async def test_after_the_end_of_the_run_it_is_refused(site: Site) -> None:
    claim, token = await waiting(site)
    now = await site.now()
    await site.backend.queue.finish([FinishedRun(claim, OK, now, now)])
    answer = await report(site, claim.run_id, token, DONE)
    assert answer.status_code == 409
    assert "the run has ended" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "status"),
        ({"status": "perhaps"}, "status"),
        ({"status": "timeout"}, "status"),
        ({"status": "failure", "message": "x" * 2001}, "message"),
        ({"status": "success", "body": "x" * 70_000}, "body"),
        ({"status": "success", "result": 1}, "result"),
    ],
)
async def test_a_bad_report_is_told_with_its_field(
    site: Site, body: dict[str, Any], field: str
) -> None:
    claim, token = await waiting(site)
    answer = await report(site, claim.run_id, token, body)
    assert answer.status_code == 422, answer.text
    assert [error["field"] for error in answer.json()["errors"]] == [field]
