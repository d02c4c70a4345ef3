"""Text that would do something if any page took it for more than text, in every field there is."""

from typing import Any
from uuid import UUID, uuid4

from cadenza.application.sessions import record_analyses
from cadenza.domain.run import Outcome, RunStatus
from cadenza.domain.session import Session, SessionEnd, ToolCall
from tests.browser.watching import World
from tests.factories import minutes, seconds
from tests.web.support import House, Site

# A name takes no slash, and so no end of an element: an image that does not load will do.
NAME = "<img src=x onerror=window.hacked=1>\"'><svg onload=window.hacked=1>"
TEXT = (
    f"{NAME}</textarea></script><script>window.hacked=1</script>"
    "<a href=javascript:window.hacked=1>x 2026-99-99 99:99:99Z"
)
ANSWER = Outcome(
    RunStatus.FAILURE, TEXT, TEXT, status_code=500, body={TEXT: [TEXT], "n": 1, NAME: 5}
)
RULE = {
    "name": NAME,
    "when": "response.n > 3 || response.x == '</script><script>window.hacked=1</script>'",
    "then": {"interval": "2m"},
    "reason": TEXT,
}


def furnish_with_hostile_text(world: World) -> list[str]:
    """The pages on which it stands."""
    return world.server.wait_for(_furnish(world.server.site, world.server.site.ours))


async def _furnish(site: Site, house: House) -> list[str]:
    planner = {"model": NAME, "prompt": TEXT}
    job = await house.job(NAME, description=TEXT, rules=[RULE], planner=planner)
    endpoint = await house.endpoint(
        job, NAME, url="https://shop.example/?x=<script>", headers={"X-One": TEXT}, body=TEXT
    )
    path = f"/endpoints/{endpoint['id']}"
    await house.done("POST", "/keys", {"name": NAME, "scopes": ["read"]})
    await house.done("POST", f"{path}/run")
    assert await site.backend.run_due(ANSWER) == 1
    hint = {"interval": "2m", "reason": TEXT}
    await house.done("POST", f"{path}/hints/interval", hint)
    await house.done("POST", f"{path}/hints/one-shot", {"in": "5m", "reason": TEXT})
    await house.done("POST", f"{path}/pause", {"reason": TEXT})
    session = await _session(site, house, endpoint)
    run = (await house.done("GET", "/runs"))["items"][0]
    account = await house.done("POST", "/accounts", {"name": NAME})
    entry = {"credits": 1000, "reason": TEXT, "reference": "first"}
    await house.done("POST", f"/accounts/{account['id']}/credits", entry)
    schedule = await house.done(
        "POST",
        "/schedules",
        {"name": NAME, "graph_id": "python:x", "cron": "0 3 1 1 *", "input": {TEXT: TEXT}},
    )
    job_path = f"/jobs/{job['id']}"
    rule = (await site.backend.stores.jobs.get_job(house.tenant_id, UUID(job["id"]))).job.rules[0]
    return [
        "/", "/jobs", "/jobs/endpoints", "/jobs/yaml", "/runs", "/planner", "/graphs",
        "/graphs/grants", "/activity", "/settings", job_path, f"{job_path}/edit",
        f"{job_path}/yaml", f"{job_path}/rules/{rule.id}", f"{job_path}/pause-until", path,
        f"{path}/edit", f"{path}/hint", f"{path}/pause-until", f"/runs/{run['id']}",
        f"/planner/{session.id}", f"/graphs/schedules/{schedule['id']}",
        f"/graphs/accounts/{account['id']}", "/search?q=%3Cimg+src%3Dx",
        "/search?q=%3Cscript%3Ewindow.hacked%3D1%3C/script%3E",
        "/jobs/endpoints?search=%22%3E%3Cscript%3Ewindow.hacked%3D1%3C/script%3E",
    ]  # fmt: skip


async def _session(site: Site, house: House, endpoint: dict[str, Any]) -> Session:
    now = await site.now()
    asked = {"reason": TEXT, "until_iso": TEXT, "endpoint": NAME}
    calls = tuple(
        ToolCall(
            tool, asked, {"ok": True, TEXT: TEXT}, suggested=True, holds_until=now + minutes(9)
        )
        for tool in ("clear_hints", "pause_until", TEXT)
    )
    session = Session(
        id=uuid4(),
        tenant_id=house.tenant_id,
        job_id=UUID(endpoint["job_id"]),
        endpoint_id=UUID(endpoint["id"]),
        brain="llm " + NAME,
        started_at=now,
        duration=seconds(1),
        end=SessionEnd.SUBMITTED,
        tool_calls=calls,
        reasoning=TEXT,
        warnings=(TEXT,),
    )
    await record_analyses(site.backend.store, [session], "test")
    return session
