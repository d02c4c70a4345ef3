"""Endpoints after a transition: stored, and workers woken where a plan has moved."""

from collections.abc import Sequence

from cadenza.application.ports.store import Channel, EndpointChange, Transaction
from cadenza.domain.analysis import changes_its_state
from cadenza.domain.endpoint import Endpoint


async def save_transitions(
    tx: Transaction, transitions: Sequence[tuple[Endpoint, Endpoint]]
) -> None:
    """Each endpoint before and after; those that are as they were are left alone."""
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
    if any(moves_plan(before, after) for before, after in transitions):
        await tx.notify(Channel.DUE)


def moves_plan(before: Endpoint, after: Endpoint) -> bool:
    return after.plan != before.plan or after.manual_slot_at != before.manual_slot_at
