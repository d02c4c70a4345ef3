"""A turn of a benchmark: everything due at once, and what its runs took, by clock and processor.

On a machine that others use, the clock says little and the processor time of a run nearly the same.
"""

from dataclasses import dataclass

from benchmarks.machine import cpu_seconds, tree_cpu_seconds
from benchmarks.stage import DUE, Stage

LATER = "cadenza_now() + interval '1 hour'"
ENDED = """SELECT json_build_object(
    'seconds', extract(epoch FROM max(finished_at) - min(claimed_at)),
    'ok', count(*) FILTER (WHERE status = 'success'),
    'doubled', count(*) - count(DISTINCT (endpoint_id, slot_at)),
    'repeated', count(*) FILTER (WHERE attempt > 1))::text FROM runs"""


@dataclass(frozen=True, slots=True)
class Turn:
    runs_per_s: float
    worker_us: float  # of the processor, for a run
    database_us: float
    lost: int
    doubled: int
    repeated: int


async def take_turn(here: Stage, count: int, worker: int) -> Turn:
    """The endpoints are there, the worker (by its process id) is up, and nothing is due yet."""
    await here.execute(f"UPDATE endpoints SET next_run_at = {DUE}")
    await here.execute("VACUUM endpoints")
    server = await here.postmaster()
    before = cpu_seconds(worker), tree_cpu_seconds(server)
    await here.execute("SELECT pg_notify('cadenza_due', '')")
    await here.finished(count, within=180, every=0.2)
    after = cpu_seconds(worker), tree_cpu_seconds(server)
    ended = await here.json(ENDED)
    return Turn(
        ended["ok"] / ended["seconds"],
        (after[0] - before[0]) / count * 1e6,
        (after[1] - before[1]) / count * 1e6,
        count - ended["ok"],
        ended["doubled"],
        ended["repeated"],
    )
