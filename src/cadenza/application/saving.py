"""Results into the store: all at once, and where one of them does not fit, each by itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

from cadenza.application.ports.claims import FinishReport, RunQueue
from cadenza.application.shown_text import shown_error
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.run import Claim, FinishedRun, Outcome, RunStatus


async def save(
    queue: RunQueue, batch: Sequence[FinishedRun], unsaved: Callable[[Claim, str], None]
) -> FinishReport:
    """In one transaction; where the store cannot take them all, each in its own.

    `unsaved` hears of the one that could not be stored at all.
    """
    try:
        return await queue.finish(batch)
    except StoreUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - one bad result must not hold back the others
        if len(batch) == 1:
            return await _save_unfit(queue, batch[0], error, unsaved)
    reports = [await save(queue, [each], unsaved) for each in batch]
    due = (report.next_due_at for report in reports if report.next_due_at is not None)
    late = frozenset[UUID]().union(*(report.late for report in reports))
    return FinishReport(late, min(due, default=None))


async def _save_unfit(
    queue: RunQueue,
    finished: FinishedRun,
    error: Exception,
    unsaved: Callable[[Claim, str], None],
) -> FinishReport:
    """Without what it brought; where even that fails, its lease ends and the slot is closed."""
    why = f"its result could not be stored: {shown_error(error)}"
    outcome = Outcome(RunStatus.FAILURE, "internal", why)
    try:
        return await queue.finish([replace(finished, outcome=outcome)])
    except StoreUnavailable:
        raise
    except Exception as second:  # noqa: BLE001 - nor may a bad endpoint
        unsaved(finished.claim, shown_error(second))
        return FinishReport(late=frozenset([finished.claim.run_id]))
