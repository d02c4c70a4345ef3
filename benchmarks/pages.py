"""How long the first view of each page of the dashboard takes, and the score's own request.

One tenant has everything: 10,000 endpoints in 100 jobs and 5 million runs over five days. The pages
are those that the dashboard has, asked for over HTTP by somebody who is signed in, one at a time.
"""

import re
from datetime import timedelta
from statistics import median
from time import perf_counter
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import aiohttp
import uvloop

from benchmarks.history import add_history, add_keys
from benchmarks.machine import load_now
from benchmarks.served import serving
from benchmarks.stage import Stage, arguments, measured, report, stage
from cadenza.web.dashboard.app import create_dashboard

ENDPOINTS, JOBS = 10_000, 100
EACH = 15
SESSION = UUID(int=1)
# No first views: what pages load, what never ends, what somebody who is signed in never sees, an
# address that moved, what only an archived thing has, and the file of everything, which is
# downloaded and as long as there is much.
LEFT_OUT = re.compile(r"/static/|/live|/events|/sign-in|/endpoints$|/jobs/cadenza.yaml|.*/delete")
# One job for every endpoint is what the stage makes; here each has a hundred, with some that fail,
# are paused or hinted, and a session that suggests something.
JOBS_AND_STATES = """
WITH tenant AS (SELECT id FROM tenants LIMIT 1)
INSERT INTO jobs (id, tenant_id, name, description)
SELECT md5('j' || n)::uuid, tenant.id, 'job ' || n, 'Watch part ' || n
FROM tenant, generate_series(0, $1::int - 1) AS n
"""
ENDPOINTS_OF_JOBS = """
UPDATE endpoints
SET job_id = md5('j' || substr(name, 2)::int % $1::int)::uuid,
    last_run_at = next_run_at - interval '15 minutes',
    plan = json_build_object(
        'source', 'baseline-interval', 'winner', 'baseline-interval', 'next_run_at', next_run_at,
        'anchor_at', next_run_at - interval '15 minutes',
        'inputs', json_build_object('now', next_run_at - interval '15 minutes', 'after_run', true)
    ),
    failure_count = CASE WHEN substr(name, 2)::int % 97 = 0 THEN 3 ELSE 0 END,
    person_paused_until = CASE WHEN substr(name, 2)::int % 89 = 0
                               THEN cadenza_now() + interval '1 day' END,
    hint_interval_ms = CASE WHEN substr(name, 2)::int % 83 = 0 THEN 5000 END,
    hint_interval_author = CASE WHEN substr(name, 2)::int % 83 = 0 THEN 'planner' END,
    hint_interval_expires_at = CASE WHEN substr(name, 2)::int % 83 = 0
                                    THEN cadenza_now() + interval '1 hour' END
"""
SESSIONS = """
INSERT INTO analysis_sessions (id, tenant_id, job_id, endpoint_id, brain, started_at, duration_ms,
                               ended_as, tool_calls, reasoning)
SELECT lpad(to_hex(n), 32, '0')::uuid, e.tenant_id, e.job_id, e.id, 'rules',
       cadenza_now() - n * interval '1 minute', 5, 'submitted', '[]', 'it is calm'
FROM generate_series(1, 5000) AS n
JOIN endpoints AS e ON e.name = 'e' || n
"""
STEERING = """
INSERT INTO steering_history (tenant_id, endpoint_id, kind, begun_at, until_at, interval_ms,
                              tightens, author, brain, reason)
SELECT e.tenant_id, e.id, 'interval', cadenza_now() - n * interval '2 hours',
       cadenza_now() - n * interval '2 hours' + interval '1 hour', 5000, true, 'planner', 'rules',
       'a rush'
FROM endpoints AS e, generate_series(1, 10) AS n
"""


async def main(*, quick: bool) -> dict[str, Any]:
    runs = 100_000 if quick else 5_000_000
    began = load_now()
    async with stage() as here:
        reader = await _fill(here, runs)
        async with serving(here) as (client, _, _):
            pages = await _pages(here, client, reader)
            scores = await _scores(here, client, reader)
    worst = max(page["median_ms"] for page in pages)
    figures = {"runs": runs, "endpoints": ENDPOINTS, "worst_median_ms": worst, **scores}
    return measured({**figures, "pages": pages}, began)


async def _fill(here: Stage, runs: int) -> dict[str, Any]:
    await here.empty()
    far = "cadenza_now() + n * interval '1 second'"
    every = timedelta(minutes=15)
    await here.add_endpoints(ENDPOINTS, interval=every, first_at=far, tenants=1)
    await here.execute(JOBS_AND_STATES, JOBS)
    await here.execute(ENDPOINTS_OF_JOBS, JOBS)
    await add_history(here, runs, ENDPOINTS, tenants=1)
    await here.execute(SESSIONS)
    await here.execute(STEERING)
    await here.execute("VACUUM ANALYZE endpoints, jobs, analysis_sessions, steering_history")
    (reader,) = await add_keys(here, 1)
    return reader


# --- Pages ----------------------------------------------------------------------------------


async def _pages(
    here: Stage, client: aiohttp.ClientSession, reader: dict[str, Any]
) -> list[dict[str, Any]]:
    signed_in = {"Cookie": await _sign_in(client, reader["token"])}
    ids = {
        "job_id": await here.value("SELECT md5('j1')::uuid"),
        "endpoint_id": await here.value("SELECT md5('e1')::uuid"),
        "run_id": await here.value("SELECT id FROM runs ORDER BY slot_at DESC LIMIT 1"),
        "session_id": SESSION,
    }
    rows: list[dict[str, Any]] = []
    for path in page_paths():
        names = re.findall(r"{(\w+)}", path)
        if set(names) <= ids.keys():  # the others are of graphs, of which there are none here
            filled = path.format_map({name: ids[name] for name in names})
            took = await _took(client, filled, headers=signed_in)
            rows.append({"page": path, "median_ms": took})
    return rows


def page_paths() -> list[str]:
    """From the dashboard's own routes, so that a page that is added is measured, too."""
    app = create_dashboard(cast("Any", SimpleNamespace()))
    routes = [cast("Any", route) for route in app.routes]
    read = [route.path for route in routes if "GET" in (getattr(route, "methods", None) or ())]
    return [path for path in dict.fromkeys(read) if not LEFT_OUT.match(path)]


async def _sign_in(client: aiohttp.ClientSession, token: str) -> str:
    """The cookie; a client keeps none of an address without a name."""
    async with client.post("/sign-in", data={"key": token}, allow_redirects=False) as answer:
        assert answer.status == 303, await answer.text()
        return answer.headers["Set-Cookie"].partition(";")[0]


async def _took(client: aiohttp.ClientSession, path: str, **options: Any) -> float:
    took: list[float] = []
    for _ in range(EACH):
        began = perf_counter()
        async with client.get(path, allow_redirects=False, **options) as answer:
            body = await answer.read()
            assert answer.status == 200, f"{path}: {answer.status} {body[:300]!r}"
        took.append((perf_counter() - began) * 1000)
    return round(median(took), 1)


# --- The score ------------------------------------------------------------------------------


async def _scores(
    here: Stage, client: aiohttp.ClientSession, reader: dict[str, Any]
) -> dict[str, Any]:
    """Fifty lanes: the last hour, which is what one sees first, and a day with what lies ahead."""
    job_id, now = await here.value("SELECT md5('j1')::uuid"), await here.value("SELECT now()")
    path = f"/api/v1/jobs/{job_id}/score"
    day = {"from": (now - timedelta(days=1)).isoformat()}
    asked = {"headers": reader["headers"], "params": day}
    async with client.get(path, **asked) as answer:
        lanes = (await answer.json())["lanes"]
    return {
        "score_ms": await _took(client, path, headers=reader["headers"]),
        "score_day_ms": await _took(client, path, **asked),
        "runs_in_a_day": sum(lane["run_count"] for lane in lanes),
    }


if __name__ == "__main__":
    options = arguments(__doc__ or "")
    result = uvloop.run(main(quick=options.quick))
    if not options.json:
        pages = result.pop("pages")
        result |= {page["page"]: page["median_ms"] for page in pages}
    report("pages", result, as_json=options.json)
