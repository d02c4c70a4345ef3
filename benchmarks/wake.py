"""How soon a nudge runs: an idle endpoint is told "now" while a worker sleeps."""

from datetime import timedelta
from statistics import median
from typing import Any

import uvloop

from benchmarks.bare import bare_runs_per_s
from benchmarks.machine import load_now
from benchmarks.stage import (
    BOX,
    DUE,
    Stage,
    arguments,
    connected,
    lost_and_duplicates,
    measured,
    report,
    stage,
    workers,
)
from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.application.transitions import save_transitions
from cadenza.domain import steering
from cadenza.domain.hint import Author, OneShotHint

CRON = CronsimCron()


async def main(*, quick: bool) -> dict[str, Any]:
    nudges = 10 if quick else 60
    began = load_now()
    async with stage() as here:
        await here.empty()
        await here.add_endpoints(5_000, interval=timedelta(days=1), first_at=DUE)
        bare = await bare_runs_per_s(here, 5_000)
        await here.empty()
        later = "cadenza_now() + interval '1 hour'"
        await here.add_endpoints(nudges, interval=timedelta(days=1), first_at=later)
        took = await _nudge_each(here)
        checked = await lost_and_duplicates(here)
    result = {
        "runs_per_s": round(1000 / median(took)),
        "bare_runs_per_s": round(bare),
        "ratio": round(1000 / median(took) / bare, 3),
        **checked,
        "wake_p50_ms": round(median(took), 1),
        "wake_max_ms": round(max(took), 1),
        "nudges": nudges,
    }
    return measured(result, began)


async def _nudge_each(here: Stage) -> list[float]:
    """Milliseconds from the moment of each nudge to the start of the run that it asked for."""
    store = PostgresStore(here.database, BOX)
    async with here.database.connection() as connection:
        rows = await connection.fetch("SELECT id, tenant_id FROM endpoints ORDER BY id")
    took: list[float] = []
    with workers(here.url, 1):
        await connected(here, 1)
        for number, row in enumerate(rows, start=1):
            nudged_at = await here.value("SELECT cadenza_now()")
            hint = OneShotHint(nudged_at, nudged_at + timedelta(minutes=1), Author.PERSON)
            async with store.transaction() as tx:
                stored = await tx.lock_endpoint(row["tenant_id"], row["id"])
                nudged = steering.suggest_run_at(stored.endpoint, hint, stored.read_at, CRON)
                await save_transitions(tx, [(stored.endpoint, nudged)])
            await here.finished(number, within=20)
            started_at = await here.value(
                "SELECT started_at FROM runs WHERE endpoint_id = $1", row["id"]
            )
            took.append((started_at - nudged_at) / timedelta(milliseconds=1))
    return took


if __name__ == "__main__":
    options = arguments(__doc__ or "")
    report("wake", uvloop.run(main(quick=options.quick)), as_json=options.json)
