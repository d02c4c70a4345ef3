"""Endpoints that call a function of somebody's program: declared over the API, run elsewhere."""

from typing import Any
from uuid import uuid4

from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.program_runs import ProgramRuns
from cadenza.domain.function_target import FunctionTarget, runs_on
from tests.factories import seconds
from tests.web.support import Site

FUNCTION = "shop:queue_depth"


async def create(site: Site, **fields: Any) -> dict[str, Any]:
    job = await site.ours.job(f"job {uuid4()}")
    body = {"name": "queue depth", "on_demand": True, "function": FUNCTION, **fields}
    return await site.ours.done("POST", f"/jobs/{job['id']}/endpoints", body)


def request(program: str = "shop") -> ClaimRequest:
    return ClaimRequest("test", 10, seconds(60), runs_on=runs_on(program))


async def test_a_function_is_declared_and_shown(site: Site) -> None:
    made = await create(site)
    target = made["target"]
    assert (target["kind"], target["function"]) == ("function", FUNCTION)
    assert target["timeout_ms"] == 600_000
    changed = await site.ours.done("PATCH", f"/endpoints/{made['id']}", {"timeout": "1m"})
    assert changed["target"]["timeout_ms"] == 60_000


async def test_only_its_program_claims_it(site: Site) -> None:
    made = await create(site)
    await site.ours.done("POST", f"/endpoints/{made['id']}/run")
    assert not (await site.backend.queue.claim_due(ClaimRequest("test", 10, seconds(60)))).claims
    assert not (await site.backend.queue.claim_due(request("other"))).claims
    (claim,) = (await site.backend.queue.claim_due(request())).claims
    assert claim.target == FunctionTarget("shop", "queue_depth")


async def test_a_process_without_the_function_gives_it_back_and_passes_over_it(
    site: Site,
) -> None:
    made = await create(site)
    await site.ours.done("POST", f"/endpoints/{made['id']}/run")
    without = ProgramRuns(site.backend.queue, {FunctionTarget("shop", "other").host})
    for _ in range(2):
        assert not (await without.claim_due(request())).claims
    with_it = ProgramRuns(site.backend.queue, {FunctionTarget("shop", "queue_depth").host})
    (claim,) = (await with_it.claim_due(request())).claims
    assert claim.attempt == 1


async def test_a_function_is_not_called_as_a_test(site: Site) -> None:
    made = await create(site)
    answer = await site.ours.ask("POST", f"/endpoints/{made['id']}/test")
    assert (answer.status_code, "runs in its own program" in answer.json()["detail"]) == (409, True)


async def test_a_name_that_no_function_has_is_refused(site: Site) -> None:
    job = await site.ours.job(f"job {uuid4()}")
    for function in ("queue_depth", "shop:", ":queue_depth", "a b:c", "shop:1st", "x:" + "y" * 150):
        body = {"name": "queue depth", "on_demand": True, "function": function}
        answer = await site.ours.ask("POST", f"/jobs/{job['id']}/endpoints", json=body)
        assert answer.status_code == 422, function
        assert answer.json()["errors"][0]["field"] == "function"


async def test_a_function_comes_back_from_an_export(site: Site) -> None:
    await create(site, timeout="90s")
    exported = await site.ours.done("GET", "/manifest")
    endpoints = [one for job in exported["jobs"] for one in job.get("endpoints", ())]
    ours = [one for one in endpoints if one.get("function") == FUNCTION]
    assert [one["timeout"] for one in ours] == ["1m30s"]
