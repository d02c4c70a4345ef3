"""What people and planners do to endpoints while faults happen."""

from datetime import datetime

from cadenza.domain import steering
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.hint import Author, IntervalHint, OneShotHint
from tests.direct import Transition
from tests.factories import seconds

WHY = "chaos"


def transition_of(kind: str, amount: float, length: float) -> Transition:
    """An act by its name; how much and for how long."""

    def transition(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
        ends_at = now + seconds(2 + 3 * length)
        match kind:
            case "hint":
                every = seconds(round(1 + 6 * amount, 3))  # as it is kept, in milliseconds
                hint = IntervalHint(every, ends_at, Author.PLANNER, WHY)
                return steering.suggest_interval(endpoint, hint, now, cron)
            case "one-shot":
                at = now + seconds(5 * amount)
                hint = OneShotHint(at, ends_at, Author.PLANNER, WHY)
                return steering.suggest_run_at(endpoint, hint, now, cron)
            case "pause":
                return steering.pause(endpoint, ends_at, Author.PERSON, WHY, now, cron)
            case "resume":
                return steering.resume(endpoint, Author.PERSON, now, cron)
            case "run now":
                return steering.request_run_now(endpoint, now)
            case _:
                return steering.clear_hints(endpoint, Author.PERSON, now, cron)

    return transition
