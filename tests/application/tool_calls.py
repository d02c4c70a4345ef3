"""What the tests of the tools share."""

from typing import Any

from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.tools import Toolbox
from cadenza.domain.endpoint import Every, OnDemand
from cadenza.domain.run import FinishedRun
from tests.application.bench import Bench
from tests.factories import NOON, OK, minutes, seconds

EIGHT = {
    "get_latest_response",
    "get_response_history",
    "get_sibling_latest_responses",
    "propose_interval",
    "propose_next_time",
    "pause_until",
    "clear_hints",
    "submit_analysis",
}
INTERVAL = {"interval_ms": 30_000, "reason": "load"}
NOW = {"next_run_in_ms": 0, "reason": "look"}


async def minute_after_noon(**fields: Any) -> Bench:
    """One endpoint that ran at noon, unless it is on demand; now it is a minute later."""
    bench = Bench()
    await bench.add(**{"baseline": Every(minutes(10)), **fields})
    if isinstance(bench.endpoint().baseline, OnDemand):
        await bench.sleep(60)
        return bench
    (claim,) = (await bench.queue.claim_due(ClaimRequest("worker", 1, seconds(30)))).claims
    await bench.sleep(1)
    await bench.queue.finish([FinishedRun(claim, OK, NOON, bench.now)])
    await bench.sleep(59)
    return bench


async def refused(tools: Toolbox, tool: Any, arguments: Any, *said: str) -> None:
    """The call is answered with a reason, and nothing has changed."""
    before = dict(tools.store._tables.endpoints)
    endpoints = [row.endpoint for row in before.values()]
    answer = await tools.call(tool, arguments)
    assert answer["ok"] is False
    for words in said:
        assert words in answer["error"]
    assert [row.endpoint for row in tools.store._tables.endpoints.values()] == endpoints
    assert not tools.calls[-1].took_effect
