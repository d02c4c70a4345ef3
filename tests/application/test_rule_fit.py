"""Rules held against what was answered last."""

from uuid import UUID

import pytest

from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.application.ports.expressions import Owner
from cadenza.application.rule_fit import misfits
from cadenza.domain.rule import Rule, RuleAction, Then
from tests.without_waiting import without_waiting

NOBODY = Owner(UUID(int=0), UUID(int=0))
ANSWERS = {
    "queue": {"queue_depth": 3, "nested": {"limit": 5}, "state": "up", "nothing": None},
    "page": "a page of HTML",
}


def said(when: str, endpoint: str | None = "queue") -> list[str]:
    rule = Rule("mine", when, Then(RuleAction.CLEAR), endpoint=endpoint)
    asked = misfits(NOBODY, [rule], ANSWERS, CelExpressions())
    return [text for _, text in without_waiting(asked)]


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (
            "response.queue_dept > 3",
            "there is no response.queue_dept; the nearest is queue_depth, "
            "in what queue last answered",
        ),
        (
            "response.nested.limits > 3",
            "there is no response.nested.limits; the nearest is limit, in what queue last answered",
        ),
        (
            "response.zzz > 3",
            "there is no response.zzz; there is queue_depth, nested, state, nothing, "
            "in what queue last answered",
        ),
        (
            "siblings.page.response.depth > 3",
            "there is no siblings.page.response.depth, for it is text, in what page last answered",
        ),
        (
            "response.state > 3",
            "it has no yes or no of what queue last answered: No such overload: the operation is "
            "not defined for the given operand types (response.state is text)",
        ),
    ],
)
def test_a_field_that_is_not_there_is_told_with_the_nearest_that_is(
    when: str, expected: str
) -> None:
    assert said(when) == [f"the rule 'mine': {expected}"]


@pytest.mark.parametrize(
    "when",
    [
        "response.queue_depth > 3",
        "has(response.queue_dept)",
        "health.success_rate_1h < 0.5",
        "endpoint.hinted",
        "siblings.asleep.response.depth > 3",
        "now > timestamp('2026-01-01T00:00:00Z')",
    ],
)
def test_what_fits_or_cannot_be_known_is_no_warning(when: str) -> None:
    assert said(when) == []


def test_a_rule_for_every_endpoint_fits_where_it_fits_one() -> None:
    assert said("response.queue_depth > 3", endpoint=None) == []
    assert len(said("response.queue_dept > 3", endpoint=None)) == 1


def test_where_nothing_was_answered_yet_nothing_is_said() -> None:
    assert said("response.queue_dept > 3", endpoint="new") == []
