"""Failing runs in a worker's log: the first, then ever fewer, and that it is over."""

from structlog.testing import capture_logs

from cadenza.adapters.system.failing_runs import LoggingDispatcher
from cadenza.domain.run import Claim, Outcome
from tests.factories import FAILED, OK, make_claim, make_endpoint


class _Answers:
    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = list(outcomes)

    async def dispatch(self, claim: Claim) -> Outcome:
        del claim
        return self._outcomes.pop(0)


async def test_a_streak_is_logged_at_every_doubling_and_when_it_ends() -> None:
    claim = make_claim(make_endpoint("queue"))
    logging = LoggingDispatcher(_Answers(*[FAILED] * 9, OK, OK, FAILED))
    with capture_logs() as lines:
        for _ in range(12):
            await logging.dispatch(claim)
    told = [(line["event"], line.get("in_a_row")) for line in lines]
    fails = [("run failed", count) for count in (1, 2, 4, 8)]
    assert told == [*fails, ("run succeeded again", None), ("run failed", 1)]
    assert {line["endpoint"] for line in lines} == {"queue"}


async def test_success_is_no_news() -> None:
    with capture_logs() as lines:
        await LoggingDispatcher(_Answers(OK)).dispatch(make_claim(make_endpoint("queue")))
    assert lines == []
