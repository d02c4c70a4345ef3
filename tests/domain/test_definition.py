"""Definitions at the door, and the warnings that do not keep them out."""

from datetime import datetime, timedelta

import pytest

from cadenza.domain.definition import (
    EndpointDefinition,
    JobDefinition,
    ValidationPolicy,
    check_endpoint,
    check_job,
    check_name,
    errors_in,
    rule_warnings,
    warnings_of,
)
from cadenza.domain.endpoint import Baseline, CronLine, Every, OnDemand
from cadenza.domain.errors import InvalidCron, InvalidInput
from cadenza.domain.rule import Rule, RuleAction, Then
from cadenza.domain.target import HttpTarget, ShellTarget, Target
from tests.factories import CRON, NOON, minutes, seconds

WEB = HttpTarget("https://example.com/")
SHELL = ShellTarget(("ls",))
RULES = ValidationPolicy(closed_ports=frozenset({25}))


def definition(
    baseline: Baseline = Every(minutes(5)),  # noqa: B008
    target: Target = WEB,
    least: timedelta | None = None,
    most: timedelta | None = None,
    name: str = "a",
) -> EndpointDefinition:
    return EndpointDefinition(name, baseline, target, least, most)


def refused(given: EndpointDefinition, rules: ValidationPolicy = RULES) -> InvalidInput:
    with pytest.raises(InvalidInput) as raised:
        check_endpoint(given, rules, NOON, CRON)
    return raised.value


@pytest.mark.parametrize("name", ["a", "Größe 2", "日本", "x" * 100, "a.b", "...", "yes", "a:b"])
def test_a_plain_name_passes(name: str) -> None:
    check_name("name", name)


@pytest.mark.parametrize(
    "name",
    ["", " ", " a", "a ", "a/b", "a\nb", "a\tb", "a\0", "\u200b", "x" * 101, "\ud800", ".", ".."],
)
def test_a_name_that_cannot_stand_in_an_address_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        check_name("name", name)
    assert raised.value.field == "name"


def test_a_job_has_a_name_a_description_and_endpoints_with_names_of_their_own() -> None:
    check_job(JobDefinition("a", "x" * 10_000, (definition(), definition(name="b"))))
    for wrong, field in (
        (JobDefinition("a/b"), "name"),
        (JobDefinition("a", "x" * 10_001), "description"),
        (JobDefinition("a", "\0"), "description"),
        (JobDefinition("a", "\ud800"), "description"),
        (JobDefinition("a", "", (definition(), definition())), "endpoints[1].name"),
    ):
        with pytest.raises(InvalidInput) as raised:
            check_job(wrong)
        assert raised.value.field == field


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (definition(name=""), "name"),
        (definition(Every(seconds(0.999))), "every"),
        (definition(Every(timedelta(days=367))), "every"),
        (definition(Every(timedelta(seconds=1, microseconds=1))), "every"),
        (definition(CronLine("61 * * * *")), "cron"),
        (definition(CronLine("0 0 30 2 *")), "cron"),
        (definition(CronLine("@daily", "Europe/Pari")), "timezone"),
        (definition(least=seconds(0.5)), "min_interval"),
        (definition(most=timedelta(days=400)), "max_interval"),
        (definition(least=minutes(10), most=minutes(5)), "min_interval"),
        (definition(target=HttpTarget("ftp://x")), "url"),
        (definition(target=HttpTarget("http://example.com:25/")), "url"),
        (definition(target=SHELL), "command"),
    ],
)
def test_what_is_wrong_is_refused_by_its_field(given: EndpointDefinition, field: str) -> None:
    error = refused(given)
    assert error.field == field
    assert error.fix


def test_name_baseline_guardrails_and_target_are_each_told_of() -> None:
    wrong = definition(CronLine("x"), HttpTarget("x"), minutes(2), minutes(1), name=" ")
    found = errors_in(wrong, RULES, NOON, CRON)
    assert [each.field for each in found] == ["name", "cron", "min_interval", "url"]


def test_a_command_needs_the_admins_leave() -> None:
    assert "CADENZA_SHELL_ALLOWED" in refused(definition(target=SHELL)).fix
    check_endpoint(definition(target=SHELL), ValidationPolicy(shell_allowed=True), NOON, CRON)


def test_an_expression_is_read_by_whoever_can() -> None:
    def refuse(field: str, expression: str) -> None:
        raise InvalidInput(field, expression, "no")

    given = definition(target=HttpTarget("https://example.com/", success_when="x"))
    check_endpoint(given, RULES, NOON, CRON)
    error = refused(given, ValidationPolicy(check_expression=refuse))
    assert (error.field, error.value) == ("success_when", "x")


# --- Warnings -------------------------------------------------------------------------------


def test_guardrails_that_fight_the_baseline_are_told_of_and_allowed() -> None:
    slow = definition(least=minutes(10))
    fast = definition(CronLine("0 9 * * mon"), most=timedelta(days=1))
    check_endpoint(slow, RULES, NOON, CRON)
    assert ["less often" in each for each in warnings_of(slow, NOON, CRON)] == [True]
    assert ["more often" in each for each in warnings_of(fast, NOON, CRON)] == [True]


def test_peaceful_guardrails_are_not_told_of() -> None:
    for given in (
        definition(),
        definition(least=minutes(5), most=minutes(5)),
        definition(CronLine("0 9 * * mon-fri"), least=timedelta(days=1), most=timedelta(days=3)),
        definition(OnDemand(), least=minutes(10), most=minutes(20)),
    ):
        assert warnings_of(given, NOON, CRON) == []


def test_a_cron_without_guardrails_is_not_walked_through() -> None:
    class Unasked:
        def next_after(self, expression: str, timezone: str, after: datetime) -> datetime:
            raise AssertionError("nobody needs to know")

    assert warnings_of(definition(CronLine("* * * * *")), NOON, Unasked()) == []


def test_a_leap_day_has_warnings_although_its_calendar_has_a_gap_around_2100() -> None:
    leap = CronLine("0 0 29 2 *")
    check_endpoint(definition(leap), RULES, NOON, CRON)
    assert warnings_of(definition(leap), NOON, CRON) == []
    assert len(warnings_of(definition(leap, most=timedelta(days=300)), NOON, CRON)) == 1


def test_a_cron_that_can_never_be_scheduled_is_an_invalid_cron() -> None:
    assert isinstance(refused(definition(CronLine("0 0 31 2 *"))), InvalidCron)


def test_a_rule_that_names_a_sibling_which_is_not_there_is_warned_of() -> None:
    def warned(when: str, at: str | None = None) -> list[str]:
        then = Then(RuleAction.RUN_AT if at else RuleAction.RUN_NOW, at=at)
        return rule_warnings([Rule("wake", when, then)], {"queue", "import-2"})

    for fine in (
        "siblings.queue.response.ready && siblings['import-2'].endpoint.well",
        "siblings.exists(name, siblings[name].endpoint.well)",
        "response.siblings.nobody > 1",
    ):
        assert warned(fine) == []
    told = "the rule 'wake' names 'nobody', which is no endpoint of the job"
    assert warned("siblings.nobody.endpoint.well || siblings.nobody.response.ready") == [told]
    assert warned('siblings [ "nobody" ].endpoint.well') == [told]
    assert warned("true", at="siblings.nobody.response.retry_at") == [told]
