"""Whether a run of a graph may start: its grant is valid, and the account can pay."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from cadenza.application.ports.grants import Starting
from cadenza.application.ports.store import Transaction
from cadenza.domain.billing import covers
from cadenza.domain.grant import GrantRefusal, GrantUse, refusal
from cadenza.domain.graph import ErrorCode

LOCKED = None  # not refused: somebody else has its row, so that it is asked about again
# Why a run is not started: its grant is not good, or the account has no credits.
Refusals = Mapping[UUID, GrantRefusal | ErrorCode | None]


async def refused_starts(
    tx: Transaction, run_ids: Sequence[UUID], starting: Sequence[Starting]
) -> Refusals:
    """The refused ones among these runs; every use of a grant is logged. A run that is not locked
    is no longer ours: `aborted`."""
    now = await tx.time()
    refusals: dict[UUID, GrantRefusal | ErrorCode] = dict.fromkeys(run_ids, ErrorCode.ABORTED)
    uses: list[GrantUse] = []
    for start in starting:
        run_id, graph_id = start.request.run_id, start.request.graph_id
        del refusals[run_id]
        refused = refusal(start.grant, graph_id, now)
        uses.append(GrantUse(start.request.caller.grant_id, run_id, graph_id, refused))
        if refused is not None:
            refusals[run_id] = refused
        elif not covers(start.balance):
            refusals[run_id] = ErrorCode.INSUFFICIENT_CREDITS
    if uses:
        await tx.log_grant_uses(uses)
    return refusals
