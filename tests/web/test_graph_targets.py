"""Endpoints that call a graph: under a grant, at an account's cost, with limits of their own."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain.billing import Charge, TokenUsage
from cadenza.domain.graph_target import GRAPHS
from cadenza.domain.run import Claim, FinishedRun, Outcome, RunStatus
from tests.factories import seconds
from tests.web.graph_schedules import GRAPH, open_account
from tests.web.support import Site

LIMITS = {
    "time": "10m", "memory_mb": 512, "steps": 25, "calls": None, "tokens": None, "credits": None,
    "cpus": None, "gpus": None,
}  # fmt: skip


async def create(site: Site, **fields: Any) -> dict[str, Any]:
    job = await site.ours.job(f"job {uuid4()}")
    body = {"name": "researcher", "every": "5m", "graph": GRAPH, **fields}
    return await site.ours.done("POST", f"/jobs/{job['id']}/endpoints", body)


async def refused(site: Site, **fields: Any) -> Any:
    job = await site.ours.job(f"job {uuid4()}")
    body = {"name": "researcher", "every": "5m", "graph": GRAPH, **fields}
    await site.ours.done("GET", f"/jobs/{job['id']}")  # memory makes an index where it reads
    before = await site.contents()
    answer = await site.ours.ask("POST", f"/jobs/{job['id']}/endpoints", json=body)
    assert await site.contents() == before
    return answer


async def grant_of(site: Site, endpoint: dict[str, Any]) -> dict[str, Any]:
    return await site.ours.done("GET", f"/grants/{endpoint['target']['grant_id']}")


async def give_grant(site: Site, account: str, *scopes: str) -> str:
    body = {"account_id": account, "scopes": [f"graph:execute:{scope}" for scope in scopes]}
    return (await site.ours.done("POST", "/grants", body))["id"]


async def start_due(site: Site) -> Claim:
    request = ClaimRequest("test", 10, seconds(60), runs_on=GRAPHS)
    (claim,) = (await site.backend.queue.claim_due(request)).claims
    assert await site.backend.queue.start([claim]) == {}
    return claim


async def test_a_graph_gets_a_grant_of_its_own(site: Site) -> None:
    account = await open_account(site.ours)
    made = await create(site, input={"topic": "sea"}, limits={"time": "90s", "credits": 500})
    target = made["target"]
    assert (target["kind"], target["graph"], target["input"]) == ("graph", GRAPH, {"topic": "sea"})
    assert target["limits"] == {**LIMITS, "time": "1m30s", "credits": 500}
    assert (target["timeout_ms"], target["account"]) == (90_000, "research")
    assert len(made["next_runs"]) == 5
    grant = await grant_of(site, made)
    assert (grant["account_id"], grant["scopes"]) == (account, [f"graph:execute:{GRAPH}"])
    assert (grant["endpoint_id"], grant["schedule_id"]) == (made["id"], None)
    assert await site.ours.done("GET", f"/endpoints/{made['id']}") == made


async def test_a_graph_takes_a_grant_that_its_owner_gave(site: Site) -> None:
    account = await open_account(site.ours)
    grant_id = await give_grant(site, account, "*")
    made = await create(site, grant=grant_id)
    assert (made["target"]["grant_id"], made["target"]["account"]) == (grant_id, None)
    await site.ours.done("POST", f"/endpoints/{made['id']}/archive")
    assert (await grant_of(site, made))["revoked_at"] is None, "it was not made for the endpoint"


async def test_an_account_without_credits_pays_for_no_graph(site: Site) -> None:
    await open_account(site.ours, balance=0)
    answer = await refused(site)
    assert answer.status_code == 402, answer.text


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"graph": "poet"}, "graph"),
        ({"graph": "x:"}, "graph"),
        ({"input": {"text": "x" * 70_000}}, "input"),
        ({"input": {"model": "nobody-knows-its-price"}}, "input.model"),
        ({"input": ["a"]}, "input"),
        ({"limits": {"time": "0s"}}, "limits.time"),
        ({"limits": {"time": "25h"}}, "limits.time"),
        ({"limits": {"memory_mb": 1}}, "limits.memory_mb"),
        ({"limits": {"wishes": 3}}, "limits.wishes"),
        ({"account": "nobody"}, "account"),
        ({"grant": "not an id"}, "grant"),
        ({"timeout": "5s"}, "timeout"),
        ({"method": "POST"}, "method"),
        ({"url": "https://a.example/"}, "url"),
        ({"command": ["ls"]}, "url"),
    ],
)
async def test_a_graph_that_makes_no_sense_is_refused_by_its_field(
    site: Site, fields: dict[str, Any], named: str
) -> None:
    await open_account(site.ours)
    answer = await refused(site, **fields)
    assert answer.status_code == 422, answer.text
    assert [error["field"] for error in answer.json()["errors"]] == [named]


async def test_fields_of_a_graph_do_not_go_with_an_address(site: Site) -> None:
    job = await site.ours.job()
    body = {"name": "a", "every": "5m", "url": "https://a.example/", "input": {"a": 1}}
    answer = await site.ours.ask("POST", f"/jobs/{job['id']}/endpoints", json=body)
    assert [error["field"] for error in answer.json()["errors"]] == ["input"]


async def test_who_pays_must_be_clear(site: Site) -> None:
    none = await refused(site)
    assert "create one" in none.json()["errors"][0]["fix"]
    account = await open_account(site.ours)
    grant_id = await give_grant(site, account, "*")
    both = await refused(site, grant=grant_id, account="research")
    assert [error["field"] for error in both.json()["errors"]] == ["account"]
    await open_account(site.ours, name="another")
    several = await refused(site)
    assert [error["field"] for error in several.json()["errors"]] == ["account"]
    assert (await create(site, account="another"))["target"]["account"] == "another"
    assert (await create(site, account=account))["target"]["account"] == "research"


async def test_a_grant_of_somebody_else_is_not_there(site: Site) -> None:
    theirs = await open_account(site.theirs)
    body = {"account_id": theirs, "scopes": ["graph:execute:*"]}
    foreign = await site.theirs.done("POST", "/grants", body)
    await open_account(site.ours)
    assert (await refused(site, grant=foreign["id"])).status_code == 404
    assert (await refused(site, grant=str(uuid4()))).status_code == 404


async def test_a_grant_that_does_not_allow_the_graph_is_refused(site: Site) -> None:
    account = await open_account(site.ours)
    answer = await refused(site, grant=await give_grant(site, account, "python:another"))
    assert answer.status_code == 422
    assert "grant_scope" in answer.json()["errors"][0]["fix"]


async def test_a_change_of_input_and_limits_keeps_the_grant(site: Site) -> None:
    await open_account(site.ours)
    made = await create(site, input={"a": 1}, limits={"time": "1m", "calls": 3})
    path = f"/endpoints/{made['id']}"
    await open_account(site.ours, name="another")  # which it would not know to choose from
    changed = await site.ours.done("PATCH", path, {"input": {"b": 2}, "limits": {"calls": 9}})
    assert changed["target"]["input"] == {"b": 2}
    assert changed["target"]["limits"] == {**LIMITS, "time": "1m", "calls": 9}
    assert changed["target"]["grant_id"] == made["target"]["grant_id"]
    assert (await grant_of(site, made))["revoked_at"] is None
    same = await site.ours.done("PATCH", path, {"account": "research"})
    assert same["revision"] == changed["revision"]


async def test_another_graph_or_account_needs_another_grant(site: Site) -> None:
    await open_account(site.ours)
    await open_account(site.ours, name="another")
    made = await create(site, account="research")
    path = f"/endpoints/{made['id']}"
    for patch in ({"graph": "python:b"}, {"account": "another"}):
        before = await site.ours.done("GET", path)
        after = await site.ours.done("PATCH", path, patch)
        assert after["target"]["grant_id"] != before["target"]["grant_id"]
        assert (await grant_of(site, before))["revoked_at"] is not None
    assert (await grant_of(site, after))["scopes"] == ["graph:execute:python:b"]


async def test_a_target_goes_from_graph_to_address_and_back(site: Site) -> None:
    await open_account(site.ours)
    made = await create(site, input={"a": 1})
    path = f"/endpoints/{made['id']}"
    called = await site.ours.done("PATCH", path, {"url": "https://a.example/"})
    assert (called["target"]["kind"], called["target"]["graph"]) == ("http", None)
    assert (await grant_of(site, made))["revoked_at"] is not None
    back = await site.ours.done("PATCH", path, {"graph": GRAPH})
    assert (back["target"]["kind"], back["target"]["input"]) == ("graph", {})


async def test_a_grant_that_was_made_for_it_ends_with_the_endpoint_or_its_job(site: Site) -> None:
    await open_account(site.ours)
    archived, of_job = await create(site), await create(site)
    await site.ours.done("POST", f"/endpoints/{archived['id']}/archive")
    await site.ours.done("POST", f"/jobs/{of_job['job_id']}/archive")
    for made in (archived, of_job):
        assert (await grant_of(site, made))["revoked_at"] is not None


async def test_a_test_of_a_graph_says_how_to_run_it(site: Site) -> None:
    await open_account(site.ours)
    made = await create(site)
    answer = await site.ours.ask("POST", f"/endpoints/{made['id']}/test")
    assert answer.status_code == 409, answer.text
    assert "cadenza run" in answer.text


async def test_a_run_now_of_a_graph_shows_its_output_as_the_response(site: Site) -> None:
    await open_account(site.ours)
    made = await create(site, every=None, on_demand=True)
    await site.ours.done("POST", f"/endpoints/{made['id']}/run")
    claim = await start_due(site)
    now = await site.backend.now()
    outcome = Outcome(RunStatus.SUCCESS, body={"findings": 3})
    await site.backend.queue.finish([FinishedRun(claim, outcome, now, now)])
    run = await site.ours.done("GET", f"/runs/{claim.run_id}")
    assert (run["status"], run["body"], run["is_manual"]) == ("success", {"findings": 3}, True)
    explained = await site.ours.done("GET", f"/endpoints/{made['id']}/explain")
    assert explained["next_run_at"] is None
    assert UUID(run["endpoint_id"]) == claim.endpoint_id


# --- In a file --------------------------------------------------------------------------------


def manifest(**fields: Any) -> dict[str, Any]:
    endpoint = {"name": "researcher", "every": "5m", "graph": GRAPH, **fields}
    return {"jobs": [{"name": "news", "endpoints": [endpoint]}]}


async def apply(site: Site, document: dict[str, Any], **query: Any) -> dict[str, Any]:
    return await site.ours.done("PUT", "/manifest", document, params=query)


async def only(site: Site) -> dict[str, Any]:
    (endpoint,) = (await site.ours.done("GET", "/endpoints"))["items"]
    return endpoint


async def test_a_file_makes_a_graph_and_finds_it_unchanged(site: Site) -> None:
    await open_account(site.ours)
    document = manifest(input={"topic": "sea"}, limits={"calls": 3})
    planned = await apply(site, document, dry_run=True)
    applied = await apply(site, document)
    assert applied["counts"] == planned["counts"] == {"create": 2}
    made = await only(site)
    assert (await grant_of(site, made))["endpoint_id"] == made["id"]
    await open_account(site.ours, name="another")
    assert (await apply(site, document))["counts"] == {"unchanged": 2}
    exported = await site.ours.done("GET", "/manifest")
    (endpoint,) = exported["jobs"][0]["endpoints"]
    assert (endpoint["graph"], endpoint["account"]) == (GRAPH, "research")
    assert (await apply(site, {"jobs": exported["jobs"]}))["counts"] == {"unchanged": 2}


async def test_a_file_changes_who_pays_and_takes_graphs_away(site: Site) -> None:
    first = await open_account(site.ours)
    await open_account(site.ours, name="another")
    await apply(site, manifest(account=first))
    before = await only(site)
    assert before["target"]["account"] == "research"
    assert (await apply(site, manifest(account="research")))["counts"] == {"unchanged": 2}
    changed = await apply(site, manifest(account="another"))
    (change,) = [each for each in changed["changes"] if each["act"] == "update"]
    assert [(field["field"], field["after"]) for field in change["fields"]] == [
        ("account", "another")
    ]
    after = await only(site)
    assert (await grant_of(site, before))["revoked_at"] is not None
    await apply(site, {"jobs": []}, prune=True)
    assert (await grant_of(site, after))["revoked_at"] is not None


async def test_a_file_names_every_graph_that_cannot_be_paid(site: Site) -> None:
    await open_account(site.ours)
    document = manifest(account="nobody")
    document["jobs"][0]["endpoints"].append(
        {"name": "b", "every": "5m", "graph": GRAPH, "input": {"model": "nobody-knows-it"}}
    )
    answer = await site.ours.ask("PUT", "/manifest", json=document)
    assert answer.status_code == 422, answer.text
    assert [error["field"] for error in answer.json()["errors"]] == [
        "jobs[0].endpoints[0].account",
        "jobs[0].endpoints[1].input.model",
    ]


async def test_usage_of_an_account_names_the_endpoint(site: Site) -> None:
    account = await open_account(site.ours)
    made = await create(site)
    ids = (UUID(account), site.ours.tenant_id, uuid4(), 1, "1")
    async with site.backend.store.transaction() as tx:
        await tx.add_charge(
            Charge(*ids, "small", TokenUsage(3, 4), 7, endpoint_id=UUID(made["id"]))
        )
    path = f"/accounts/{account}/usage"
    usage = await site.ours.done("GET", path, params={"group_by": "endpoint"})
    assert [(row["group"], row["credits"]) for row in usage["items"]] == [(made["id"], 7)]
