"""Results that are reported: by whom, once, and to the attempt that waits."""

from dataclasses import replace
from itertools import count
from uuid import UUID, uuid4

import pytest

from cadenza.application.run_results import RunResults
from cadenza.domain.errors import NotFound, Refused
from cadenza.domain.result import Report
from cadenza.domain.run import Claim, FinishedRun, RunStatus
from tests.contracts.harness import Store
from tests.factories import OK, seconds

DONE = Report(RunStatus.SUCCESS, {"queue_depth": 12})
FAILED = Report(RunStatus.FAILURE, None, "the printer is on fire")


def results_of(store: Store) -> RunResults:
    numbers = count(1)
    return RunResults(store.port, lambda: f"secret-{next(numbers)}")


async def running(store: Store) -> Claim:
    await store.add()
    return await store.claim_one()


async def finish(store: Store, claim: Claim) -> None:
    now = await store.clock.now()
    await store.queue.finish([FinishedRun(claim, OK, now, now)])


async def reports_of(store: Store, *run_ids: UUID) -> dict[UUID, Report]:
    return dict(await store.results.reports_of(run_ids))


async def test_a_report_with_the_token_is_there_for_whoever_waits(store: Store) -> None:
    results, claim = results_of(store), await running(store)
    token, before = await results.expect(claim)
    assert before is None
    assert await reports_of(store, claim.run_id) == {}
    await results.report(claim.run_id, token, DONE)
    assert await reports_of(store, claim.run_id, uuid4()) == {claim.run_id: DONE}


async def test_the_same_report_again_changes_nothing_and_another_is_refused(store: Store) -> None:
    results, claim = results_of(store), await running(store)
    token, _ = await results.expect(claim)
    await results.report(claim.run_id, token, FAILED)
    await results.report(claim.run_id, token, FAILED)
    with pytest.raises(Refused, match="another result was reported"):
        await results.report(claim.run_id, token, DONE)
    assert await reports_of(store, claim.run_id) == {claim.run_id: FAILED}


async def test_a_wrong_token_and_an_unknown_run_are_not_told_apart(store: Store) -> None:
    results, claim = results_of(store), await running(store)
    token, _ = await results.expect(claim)
    said = set()
    for run_id, wrong in ((claim.run_id, "cdzr_other"), (claim.run_id, ""), (uuid4(), token)):
        with pytest.raises(NotFound) as error:
            await results.report(run_id, wrong, DONE)
        said.add(str(error.value))
    assert len(said) == 1
    assert await reports_of(store, claim.run_id) == {}


async def test_the_token_of_a_lost_attempt_still_counts_and_spares_the_next_one(
    store: Store,
) -> None:
    results, claim = results_of(store), await running(store)
    first, _ = await results.expect(claim)
    second, before = await results.expect(replace(claim, attempt=2))
    assert before is None, "nothing was reported when the second attempt began"
    assert first != second
    await results.report(claim.run_id, first, DONE)
    await results.report(claim.run_id, second, DONE)  # the same, by the other consumer
    _, before = await results.expect(replace(claim, attempt=3))
    assert before == DONE


async def test_a_run_that_has_ended_takes_no_report(store: Store) -> None:
    results, claim = results_of(store), await running(store)
    token, _ = await results.expect(claim)
    await finish(store, claim)
    with pytest.raises(Refused, match="the run has ended"):
        await results.report(claim.run_id, token, DONE)


async def test_a_deadline_closes_it_and_a_report_before_that_counts(store: Store) -> None:
    results, claim = results_of(store), await running(store)
    token, _ = await results.expect(claim)
    assert await results.close(claim.run_id) is None
    with pytest.raises(Refused, match="the run has ended"):
        await results.report(claim.run_id, token, DONE)

    await finish(store, claim)
    await store.advance(seconds(120))
    later = await store.claim_one()
    token, _ = await results.expect(later)
    await results.report(later.run_id, token, DONE)
    assert await results.close(later.run_id) == DONE
    await results.report(later.run_id, token, DONE)  # the same again is answered the same


async def test_tokens_are_stored_as_hashes(store: Store) -> None:
    results, claim = results_of(store), await running(store)
    token, _ = await results.expect(claim)
    async with store.transaction() as tx:
        attempts, is_running = await tx.lock_awaited(claim.run_id)
    assert is_running
    assert token not in repr(attempts)
    assert token.encode() not in attempts[0].token_hash
