"""Definitions: what an owner declares about a job and its endpoints, and what is wrong with it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from uuid import UUID

from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import PLATFORM_MIN_INTERVAL, Baseline, CronLine, Every, Job
from cadenza.domain.errors import InvalidCron, InvalidInput, caught, refuse
from cadenza.domain.function_target import FunctionTarget, check_function_target
from cadenza.domain.graph_target import GraphTarget, check_graph_target
from cadenza.domain.instants import humanize
from cadenza.domain.planner_policy import USUAL, PlannerPolicy, policy_errors
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.queue_validation import queue_checks
from cadenza.domain.rule import Rule, names_in, with_ids
from cadenza.domain.target import HttpTarget, ShellTarget, Target
from cadenza.domain.target_validation import check_shell_target, check_storable, http_checks

LONGEST_INTERVAL = timedelta(days=366)
MAX_NAME = 100
_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # letters and marks, and yet invisible
MAX_DESCRIPTION = 10_000


@dataclass(frozen=True, slots=True)
class EndpointDefinition:
    name: str
    baseline: Baseline
    target: Target
    min_interval: timedelta | None = None
    max_interval: timedelta | None = None
    backs_off: bool = True


@dataclass(frozen=True, slots=True)
class JobDefinition:
    name: str
    description: str = ""
    endpoints: tuple[EndpointDefinition, ...] = ()
    rules: tuple[Rule, ...] = ()
    planner: PlannerPolicy = USUAL


@dataclass(frozen=True, slots=True)
class ValidationPolicy:
    """What the admin allows for targets, and how expressions are checked (field, expression)."""

    closed_ports: frozenset[int] = frozenset()
    shell_allowed: bool = False
    check_expression: Callable[[str, str], None] | None = None
    check_rule: Callable[[str, str], None] | None = None  # an expression of a declared rule
    check_model: Callable[[str, str], None] | None = None  # the name of a planner's model


def check_job(definition: JobDefinition) -> None:
    refuse(job_errors(definition))


def job_errors(definition: JobDefinition) -> Iterator[InvalidInput]:
    """What is wrong with its own fields, but for its rules; and names that two endpoints have."""
    yield from caught(lambda: check_name("name", definition.name))
    yield from caught(lambda: _check_text("description", definition.description, MAX_DESCRIPTION))
    seen: set[str] = set()
    for index, endpoint in enumerate(definition.endpoints):
        if endpoint.name in seen:
            path = f"endpoints[{index}].name"
            yield InvalidInput(path, endpoint.name, "another endpoint of the job has it")
        seen.add(endpoint.name)
    yield from policy_errors(definition.planner)


def declared(job: Job) -> JobDefinition:
    """What an owner declares about a job, without its endpoints."""
    return JobDefinition(job.name, job.description, (), job.rules, job.planner)


def with_declared(job: Job, wanted: JobDefinition, new_id: Callable[[], UUID]) -> Job:
    return replace(
        job,
        name=wanted.name,
        description=wanted.description,
        rules=with_ids(wanted.rules, job.rules, new_id),
        planner=wanted.planner,
    )


def rule_errors(rules: Sequence[Rule], policy: ValidationPolicy) -> Iterator[InvalidInput]:
    """What is wrong with declared rules: duplicate names, expressions that cannot be read."""
    seen: set[str] = set()
    for index, rule in enumerate(rules):
        path = f"rules[{index}]"
        if rule.name in seen:
            yield InvalidInput(f"{path}.name", rule.name, "another rule of the job has it")
        seen.add(rule.name)
        names = {"name": rule.name, "endpoint": rule.endpoint, "then.endpoint": rule.then.endpoint}
        yield from _field_errors(path, names, check_name)
        if policy.check_rule is not None:
            expressions = {"when": rule.when, "then.run_at": rule.then.at}
            yield from _field_errors(path, expressions, policy.check_rule)


def model_errors(planner: PlannerPolicy, policy: ValidationPolicy) -> Iterator[InvalidInput]:
    """Where the installation knows which provider it asks."""
    if policy.check_model is not None:
        yield from _field_errors("planner", {"model": planner.model}, policy.check_model)


def _field_errors(
    path: str, values: Mapping[str, str | None], check: Callable[[str, str], None]
) -> Iterator[InvalidInput]:
    for field, value in values.items():
        if value is not None:
            yield from caught(partial(check, f"{path}.{field}", value))


def rule_warnings(rules: Sequence[Rule], names: Collection[str]) -> list[str]:
    """Rules that name an endpoint which is not among these: such a rule does nothing."""
    return [
        f"the rule {rule.name!r} names {name!r}, which is no endpoint of the job"
        for rule in rules
        for name in names_in(rule)
        if name not in names
    ]


def check_endpoint(
    definition: EndpointDefinition, policy: ValidationPolicy, now: datetime, cron: Cron
) -> None:
    """InvalidInput with the field, the value and the fix; InvalidFields where several are wrong."""
    refuse(errors_in(definition, policy, now, cron))


def errors_in(
    definition: EndpointDefinition, policy: ValidationPolicy, now: datetime, cron: Cron
) -> Iterator[InvalidInput]:
    """Everything that is wrong with name, baseline, guardrails and target; the first of a field."""
    yield from caught(lambda: check_name("name", definition.name))
    yield from _schedule_errors(definition, now, cron)
    for check in _target_checks(definition.target, policy):
        yield from caught(check)


def _schedule_errors(
    definition: EndpointDefinition, now: datetime, cron: Cron
) -> Iterator[InvalidInput]:
    least, most = definition.min_interval, definition.max_interval
    yield from caught(lambda: _check_baseline(definition.baseline, now, cron))
    yield from caught(lambda: _check_guardrail("min_interval", least))
    yield from caught(lambda: _check_guardrail("max_interval", most))
    yield from caught(lambda: _check_order(least, most))


def check_schedule_part(definition: EndpointDefinition, now: datetime, cron: Cron) -> None:
    """Baseline and guardrails alone."""
    refuse(_schedule_errors(definition, now, cron))


def check_name(field: str, name: str) -> None:
    """A name is part of addresses, tables and commands."""
    _check_text(field, name, MAX_NAME)
    if not name or name != name.strip():
        raise InvalidInput(field, name, f"1 to {MAX_NAME} characters, no space at either end")
    if "/" in name or not name.isprintable():
        raise InvalidInput(field, name, "no / and no control characters")
    if unseen := next((char for char in name if char in _UNSEEN), None):
        raise InvalidInput(field, name, f"it holds U+{ord(unseen):04X}, which nobody can see")
    if name in (".", ".."):
        raise InvalidInput(field, name, "in an address it means a folder; take another name")


def warnings_of(definition: EndpointDefinition, now: datetime, cron: Cron) -> list[str]:
    """Where baseline and guardrails contradict each other: allowed, but hardly what was meant."""
    warnings: list[str] = []
    least, most = definition.min_interval, definition.max_interval
    gaps = _gaps(definition.baseline, now, cron) if least or most else []
    if gaps and least is not None and least > min(gaps):
        warnings.append(
            f"min_interval {humanize(least)} is longer than the baseline's {humanize(min(gaps))}: "
            "it will run less often than the baseline says"
        )
    if gaps and most is not None and most < max(gaps):
        warnings.append(
            f"max_interval {humanize(most)} is shorter than the baseline's {humanize(max(gaps))}: "
            "it will run more often than the baseline says"
        )
    return warnings


def _check_text(field: str, text: str, most: int) -> None:
    if len(text) > most:
        raise InvalidInput(field, text, f"{len(text)} characters; {most} are the most")
    check_storable(field, text)


def _check_baseline(baseline: Baseline, now: datetime, cron: Cron) -> None:
    if isinstance(baseline, Every):
        _check_interval("every", baseline.interval)
    elif isinstance(baseline, CronLine):
        cron.next_after(baseline.expression, baseline.timezone, now)


def _check_guardrail(field: str, interval: timedelta | None) -> None:
    if interval is not None:
        _check_interval(field, interval)


def _check_order(least: timedelta | None, most: timedelta | None) -> None:
    if least is not None and most is not None and least > most:
        fix = f"it is above max_interval ({humanize(most)}); lower one or raise the other"
        raise InvalidInput("min_interval", humanize(least), fix)


def _check_interval(field: str, interval: timedelta) -> None:
    if not PLATFORM_MIN_INTERVAL <= interval <= LONGEST_INTERVAL:
        raise InvalidInput(field, humanize(interval), "from 1 s to 366 days")
    if interval % timedelta(milliseconds=1):
        raise InvalidInput(field, str(interval), "milliseconds are the finest there is")


def _target_checks(target: Target, policy: ValidationPolicy) -> Iterable[Callable[[], None]]:
    if isinstance(target, HttpTarget):
        return http_checks(target, policy.closed_ports, policy.check_expression)
    if isinstance(target, GraphTarget):
        return (lambda: check_graph_target(target),)
    if isinstance(target, FunctionTarget):
        return (lambda: check_function_target(target),)
    if isinstance(target, QueueTarget):
        return queue_checks(target, policy.closed_ports)
    return (lambda: _check_shell(target, policy),)


def _check_shell(target: ShellTarget, policy: ValidationPolicy) -> None:
    if not policy.shell_allowed:
        how = "the installation's admin can set CADENZA_SHELL_ALLOWED=true"
        fix = f"commands are not allowed here; {how}"
        raise InvalidInput("command", list(target.command), fix)
    check_shell_target(target)


def _gaps(baseline: Baseline, now: datetime, cron: Cron) -> list[timedelta]:
    """The times between two runs; of a cron, those between its next fifty."""
    if isinstance(baseline, Every):
        return [baseline.interval]
    if not isinstance(baseline, CronLine):
        return []
    occurrences, line = [now], (baseline.expression, baseline.timezone)
    with suppress(InvalidCron):  # 29 February has one every four years, and none around 2100
        for _ in range(50):
            occurrences.append(cron.next_after(*line, occurrences[-1]))
    return [later - earlier for earlier, later in pairwise(occurrences[1:])]
