"""What was answered, known only where somebody asked.

Between two probes the state is taken to be that of the earlier one: nobody knows better. So a
change is known from the probe that first showed it, and no replay can see it before that.
"""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, TypeGuard, cast

from cadenza.domain.analysis import Response

_MOVED = 0.25  # of a number: less is no change


class History:
    def __init__(self, answers: Sequence[Response]) -> None:
        self.answers = sorted(answers, key=lambda answer: answer.finished_at)
        self._instants = [answer.finished_at for answer in self.answers]

    def at(self, instant: datetime) -> Response | None:
        """What was known to hold then; before the first answer, that one."""
        if not self.answers:
            return None
        return self.answers[max(0, bisect_right(self._instants, instant) - 1)]

    def until(self, end: datetime) -> "History":
        return History(self.answers[: bisect_right(self._instants, end)])

    def changes(self) -> list[datetime]:
        """When an answer first said something else than the one before it."""
        pairs = pairwise(self.answers)
        return [after.finished_at for before, after in pairs if differ(before, after)]


def differ(before: Response, after: Response) -> bool:
    """Another ending, another text, yes instead of no, or a number that moved by a quarter."""
    return before.is_well is not after.is_well or _differ(before.body, after.body, 0)


def _differ(before: object, after: object, depth: int) -> bool:
    if depth > 5:
        return before != after
    if _is_number(before) and _is_number(after):
        try:
            return abs(after - before) > _MOVED * max(abs(before), abs(after))
        except OverflowError:  # JSON has numbers of any length
            return before != after
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
        return old.keys() != new.keys() or any(_differ(old[k], new[k], depth + 1) for k in old)
    return before != after


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
