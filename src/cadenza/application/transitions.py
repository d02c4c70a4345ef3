"""Stores endpoints after a transition with their steering history, and wakes workers where a plan
changed."""

from collections.abc import Sequence

from cadenza.application.ports.store import Channel, EndpointChange, Transaction
from cadenza.domain.access import Caller
from cadenza.domain.analysis import changes_its_state
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.hint import Author
from cadenza.domain.steering_history import By, steering_changes


async def save_transitions(
    tx: Transaction, transitions: Sequence[tuple[Endpoint, Endpoint]], by: By
) -> None:
    """Pairs of an endpoint before and after; unchanged ones are skipped."""
    changes = [
        EndpointChange(
            after,
            is_news=changes_its_state(before, after),
            raises_revision=after.archived_at != before.archived_at,
        )
        for before, after in transitions
        if after != before
    ]
    if changes:
        await tx.save_endpoints(changes)
    steered = [change for pair in transitions for change in steering_changes(*pair, by)]
    if steered:
        await tx.note_steering(steered, by)
    if any(moves_plan(before, after) for before, after in transitions):
        await tx.notify(Channel.DUE)


def person(caller: Caller, reason: str = "") -> By:
    return By(Author.PERSON, caller.user_id, reason=reason)


def moves_plan(before: Endpoint, after: Endpoint) -> bool:
    return after.plan != before.plan or after.manual_slot_at != before.manual_slot_at
