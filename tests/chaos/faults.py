"""The faults of a run with real programs. Each lasts a while, ends by itself, and is logged."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from time import time as wall_time  # noqa: TID251 - as its witnesses have it
from uuid import UUID

import asyncpg

from cadenza.adapters.simulated.chance import SeededChance
from cadenza.domain.errors import CadenzaError
from tests.adapters.postgres.support import until
from tests.chaos.history import STOP, Fault
from tests.chaos.launch import SETS_CLOCK
from tests.chaos.stage import BOUND, LEASE, Member, Stage
from tests.chaos.steering_acts import transition_of
from tests.direct import Direct
from tests.postgres import direct

PATIENCE = 30.0
TRIES = 3
Step = Callable[[Stage, "Draw"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Draw:
    """What chance says about one fault."""

    number: int
    chance: SeededChance

    def between(self, lowest: float, highest: float, about: str) -> float:
        return self.chance.between(lowest, highest, about, self.number)

    def member(self, stage: Stage, *, any_kind: bool = False) -> Member:
        members = stage.members if any_kind else stage.schedulers
        return members[int(self.between(0, len(members), "member"))]


async def kill(stage: Stage, draw: Draw) -> None:
    """SIGKILL; it comes back a moment later."""
    await _kill(stage, draw, draw.member(stage))


async def kill_beside(stage: Stage, draw: Draw) -> None:
    """The same of a planner or a graph worker."""
    others = [member for member in stage.members if member not in stage.schedulers]
    if others:
        await _kill(stage, draw, others[draw.number % len(others)])


async def _kill(stage: Stage, draw: Draw, member: Member) -> None:
    async with member.hands_off:
        member.send(signal.SIGKILL)
        await member.ended(PATIENCE)
        await asyncio.sleep(draw.between(0.2, LEASE, "away"))
        await _back(stage, member)


async def _back(stage: Stage, member: Member) -> None:
    """As a process manager does it, again where it ended at its start: for want of a connection,
    say. A busy machine takes its time for it; until then the fault lasts."""
    before = member.starts
    member.start(stage.mutant)
    async with asyncio.timeout(4 * PATIENCE):
        while member.starts <= before:
            await asyncio.sleep(0.1)
            if not member.alive:
                member.start(stage.mutant)


async def stop(stage: Stage, draw: Draw) -> None:
    """SIGSTOP, past the lease: it goes on as if nothing had been."""
    member = draw.member(stage)
    async with member.hands_off:
        member.send(signal.SIGSTOP)
        await asyncio.sleep(LEASE + draw.between(0.5, 2, "stopped"))
        member.send(signal.SIGCONT)


async def terminate(stage: Stage, draw: Draw) -> None:
    """SIGTERM, as a deployment does."""
    member = draw.member(stage, any_kind=True)
    async with member.hands_off:
        member.send(signal.SIGTERM)
        await member.ended(PATIENCE)
        await _back(stage, member)


async def cut(stage: Stage, draw: Draw) -> None:
    """Its connections end, and no new one is taken for a while."""
    proxy = draw.member(stage, any_kind=True).proxy
    await proxy.cut()
    await asyncio.sleep(draw.between(0.1, 3, "cut"))
    await proxy.mend()


async def drop(stage: Stage, draw: Draw) -> None:
    draw.member(stage, any_kind=True).proxy.drop()
    await asyncio.sleep(0.1)


async def stall(stage: Stage, draw: Draw) -> None:
    """Everything is held back, past the lease, and comes then."""
    proxy = draw.member(stage).proxy
    proxy.hold()
    await asyncio.sleep(LEASE + draw.between(1, 3, "stalled"))
    proxy.let_go()


async def swallow_commit(stage: Stage, draw: Draw) -> None:
    """One connection goes silent at a commit; new ones work."""
    proxy = draw.member(stage).proxy
    proxy.swallow_from(b"COMMIT;")
    await asyncio.sleep(LEASE)
    proxy.be_well()


async def swallow_all(stage: Stage, draw: Draw) -> None:
    draw.member(stage).proxy.swallow_all()
    await asyncio.sleep(LEASE)


async def lose_commit(stage: Stage, draw: Draw) -> None:
    """A commit happens, and its answer is lost."""
    await _lose(draw.member(stage), "commit")


async def lose_claim(stage: Stage, draw: Draw) -> None:
    await _lose(draw.member(stage), "claim")


async def _lose(member: Member, what: str) -> None:
    before = member.proxy.lost
    member.proxy.lose_answer_to(what)
    with suppress(AssertionError):  # it had nothing to say
        await until(lambda: member.proxy.lost > before, within=LEASE)
    member.proxy.be_well()
    await asyncio.sleep(LEASE)  # until what nobody knows of is taken over


async def restart_database(stage: Stage, draw: Draw) -> None:
    await stage.restarted()


async def crash_in_commit(stage: Stage, draw: Draw) -> None:
    """The server dies while a commit is on its way."""
    struck = asyncio.Event()

    def strike() -> None:
        with suppress(OSError, IndexError):
            stage.server.crash()
        struck.set()

    for member in stage.schedulers:
        member.proxy.on_commit = strike
    with suppress(TimeoutError):
        await asyncio.wait_for(struck.wait(), PATIENCE)
    for member in stage.schedulers:
        member.proxy.be_well()
    await until(lambda: not stage.server.running, within=PATIENCE)
    await stage.restarted()


async def promote(stage: Stage, draw: Draw) -> None:
    """A replica takes the place of the server, which dies."""
    await stage.led_to(await stage.server.promote(stage.url))


async def exhaust_connections(stage: Stage, draw: Draw) -> None:
    """Somebody else takes every connection that the server has left."""
    taken: list[asyncpg.Connection] = []
    with suppress(asyncpg.TooManyConnectionsError, asyncpg.PostgresError, OSError):
        while True:
            taken.append(await asyncpg.connect(stage.url))
    for member in stage.schedulers:
        member.proxy.drop()
    await asyncio.sleep(draw.between(1, 3, "exhausted"))
    for connection in taken:
        connection.terminate()


async def fill_disk(stage: Stage, draw: Draw) -> None:
    if not stage.small_disk:
        return
    stage.server.fill_disk()
    await asyncio.sleep(draw.between(0.5, 2, "full"))
    stage.server.free_disk()
    await asyncio.sleep(0.5)
    if not stage.server.running:
        await stage.restarted()


async def hold_row(stage: Stage, draw: Draw) -> None:
    """Somebody keeps a row locked, and says nothing: only that endpoint may wait. It is one that is
    due soon, and is held for longer than anybody else may stand still."""
    ids = [spec.endpoint_id for kind in ("quick", "slow") for spec in stage.named(kind)]
    endpoint_id = ids[int(draw.between(0, len(ids), "row"))]
    stage.locked.add(endpoint_id)
    connection = await asyncpg.connect(stage.url)
    with suppress(asyncpg.PostgresError, OSError):
        async with connection.transaction():
            held = "SELECT 1 FROM endpoints WHERE id = $1 FOR UPDATE"
            await connection.execute(held, endpoint_id)
            await asyncio.sleep(BOUND + 5)
    connection.terminate()


async def outlive(stage: Stage, draw: Draw) -> None:
    """A worker owes a result past its lease, and may say it when another has that run under way:
    again until it was too late. Others beside it may keep it from happening."""
    endpoint_id = stage.named("owed")[0].endpoint_id
    with suppress(AssertionError, CadenzaError):
        for _ in range(TRIES):
            if await _outlived(stage, endpoint_id):
                return


async def _outlived(stage: Stage, endpoint_id: UUID) -> bool:
    """Whether a result of it was refused."""
    run_id, holders = await until(lambda: _hold_holders(stage, endpoint_id), within=PATIENCE)
    try:
        taken = "SELECT attempt > 1 FROM runs WHERE endpoint_id = $1 AND id = $2"
        await until(lambda: stage.database.fetchval(taken, endpoint_id, run_id), within=PATIENCE)
    finally:
        for member in holders:
            member.proxy.let_go()
    late = "SELECT EXISTS (SELECT 1 FROM late_results WHERE run_id = $1)"
    over = (
        f"SELECT status <> 'running' OR ({late.replace('$1', 'runs.id')}) FROM runs WHERE id = $1"
    )
    await until(lambda: stage.database.fetchval(over, run_id), within=PATIENCE)
    return await stage.database.fetchval(late, run_id)


async def _hold_holders(stage: Stage, endpoint_id: UUID) -> tuple[UUID, list[Member]] | None:
    """Of a run that was sent and is not answered yet: nothing that they say passes from now on."""
    sent = (
        "SELECT running_run_id, leased_by FROM endpoints WHERE id = $1 AND running_attempt = 1"
        " AND running_claimed_at < cadenza_now() - interval '0.6 s'"
    )
    if (row := await stage.database.fetchrow(sent, endpoint_id)) is None:
        return None
    holders = [member for member in stage.schedulers if member.role.name == row["leased_by"]]
    for member in holders:
        member.proxy.hold()
    if await stage.database.fetchrow(sent, endpoint_id) == row:
        return row["running_run_id"], holders
    for member in holders:
        member.proxy.let_go()
    return None


# --- Clocks ---------------------------------------------------------------------------------


async def clock_back(stage: Stage, draw: Draw) -> None:
    """So far that intervals begin anew: who waited for the old time would stand still too long."""
    await _set_clock(stage, -draw.between(BOUND + 5, BOUND + 15, "back"))


async def clock_back_a_little(stage: Stage, draw: Draw) -> None:
    await _set_clock(stage, -draw.between(0.1, 4, "back"))


async def clock_forward(stage: Stage, draw: Draw) -> None:
    """Past leases, or not."""
    await _set_clock(stage, draw.between(1, 20, "forward"))


async def _set_clock(stage: Stage, by: float) -> None:
    await stage.step_clock(by)
    await asyncio.sleep(LEASE)  # leases of before end too early, or too late


async def worker_clock(stage: Stage, draw: Draw) -> None:
    """The machine of one worker believes another time, by hours, forward or back: nobody may notice
    anything."""
    member = draw.member(stage, any_kind=True)
    async with member.hands_off:
        member.send(SETS_CLOCK[draw.number % 2])
        await asyncio.sleep(2)


async def steer(stage: Stage, draw: Draw) -> None:
    """Hints, pauses and runs by hand, also in the middle of a finish."""
    steered = [spec for spec in stage.furnished.specs.values() if spec.name.startswith("steered")]
    acts = ("hint", "hint", "one-shot", "pause", "resume", "run now", "clear")
    board: Direct = direct(stage.database)
    for spec in steered:
        about = f"act {spec.name}"
        kind = acts[int(draw.between(0, len(acts), about))]
        amount, length = draw.between(0, 1, f"{about} amount"), draw.between(0, 5, f"{about} s")
        transition = transition_of(kind, amount, length)
        with suppress(CadenzaError):  # refused, or the database is away
            await board.change_endpoint(spec.tenant_id, spec.endpoint_id, transition)
        await asyncio.sleep(0.05)


# Those that come first come in every run, however short: the first brings out a late result.
FAULTS: dict[str, Step] = {
    "outlive": outlive,
    "stall": stall,
    "kill": kill,
    "crash_in_commit": crash_in_commit,
    "kill_beside": kill_beside,
    "clock_back": clock_back,
    STOP: stop,
    "lose_commit": lose_commit,
    "promote": promote,
    "clock_forward": clock_forward,
    "worker_clock": worker_clock,
    "swallow_commit": swallow_commit,
    "lose_claim": lose_claim,
    "restart_database": restart_database,
    "cut": cut,
    "fill_disk": fill_disk,
    "clock_back_a_little": clock_back_a_little,
    "exhaust_connections": exhaust_connections,
    "terminate": terminate,
    "hold_row": hold_row,
    "drop": drop,
    "swallow_all": swallow_all,
}
ALONE = {"crash_in_commit", "restart_database", "fill_disk", "promote"}


async def inflict(stage: Stage, kind: str, draw: Draw) -> None:
    began = wall_time()
    await FAULTS[kind](stage, draw)
    stage.faults.append(Fault(kind, began, wall_time()))
