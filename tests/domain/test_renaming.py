"""An endpoint's new name, in the rules of its job that name it."""

from dataclasses import replace

import pytest

from cadenza.domain.rule import (
    Rule,
    RuleAction,
    Then,
    can_be_quoted,
    names_in,
    naming,
    with_renamed,
)

RULE = Rule("deep", "response.depth > 3", Then(RuleAction.RUN_NOW))


@pytest.mark.parametrize(
    ("before", "after", "when", "renamed"),
    [
        ("queue", "orders", "siblings.queue.depth > 3", "siblings.orders.depth > 3"),
        ("queue", "new orders", "siblings.queue.depth", 'siblings["new orders"].depth'),
        ("old queue", "orders", "siblings['old queue'].depth", "siblings.orders.depth"),
        ("queue", "orders", "response.queue > 3", "response.queue > 3"),
        ("queue", "orders", "siblings.queues.depth", "siblings.queues.depth"),
        ("queue", "orders", "siblings.size() > 2", "siblings.size() > 2"),
        (
            "queue",
            "orders",
            "siblings.queue.a > siblings.other.a && siblings . queue.b",
            "siblings.orders.a > siblings.other.a && siblings.orders.b",
        ),
    ],
)
def test_an_expression_names_it_anew(before: str, after: str, when: str, renamed: str) -> None:
    assert with_renamed(replace(RULE, when=when), before, after).when == renamed


def test_the_endpoint_that_is_read_and_the_one_that_is_steered_are_renamed_alike() -> None:
    then = Then(RuleAction.RUN_AT, at="siblings.queue.next", endpoint="queue")
    rule = replace(RULE, endpoint="queue", then=then)
    renamed = with_renamed(rule, "queue", "orders")
    assert names_in(renamed) == ["orders"]
    assert with_renamed(renamed, "orders", "queue") == rule


def test_those_that_name_it_are_known() -> None:
    named = replace(RULE, name="other", when="siblings.queue.depth > 3")
    assert naming((RULE, named), "queue") == (named,)


@pytest.mark.parametrize(
    ("name", "can"), [("a b", True), ('a"b', False), ("a'b", False), ("a\\", False)]
)
def test_what_an_expression_cannot_quote_is_known(name: str, can: bool) -> None:
    assert can_be_quoted(name) is can
