"""What must hold of the store's rows: epochs rise, ends stay, plans are the governor's."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from cadenza.domain.endpoint import Endpoint
from cadenza.domain.governor import after_last_slot, floor_at, plan_next_run
from cadenza.domain.instants import latest
from cadenza.domain.plan import Plan, Source
from cadenza.domain.run import Run, RunStatus
from tests.chaos.history import EndpointVersion, History
from tests.chaos.violation import Violation
from tests.factories import CRON

HINTS = (Source.AI_INTERVAL, Source.AI_ONESHOT)


def falling_epochs(history: History) -> Iterator[Violation]:
    epochs: dict[UUID, int] = {}
    for version in history.endpoint_versions:
        endpoint_id = version.endpoint.id
        before = epochs.get(endpoint_id, 0)
        if version.epoch < before:
            text = f"from {before} to {version.epoch}"
            yield Violation("falling_epoch", endpoint_id, version.at, text)
        epochs[endpoint_id] = version.epoch


def changed_ends(history: History) -> Iterator[Violation]:
    """A terminal run never changes, and its row stays."""
    ended: dict[UUID, Run] = {}
    for version in history.run_versions:
        before, after = ended.get(version.run_id), version.run
        if before is not None and after != before:
            what = "is gone" if after is None else f"became {after.status}"
            yield Violation("changed_end", before.endpoint_id, before.slot_at, what)
        if after is not None and after.status is not RunStatus.RUNNING:
            ended.setdefault(version.run_id, after)


def other_plans(history: History) -> Iterator[Violation]:
    """Every next run equals the governor on the logged inputs."""
    for version, plan in _new_plans(history):
        expected = _planned_again(version.endpoint, plan)
        if expected != plan.next_run_at:
            text = f"{plan.source} {plan.next_run_at}, the governor says {expected}"
            yield Violation("other_plan", version.endpoint.id, version.at, text)


def _new_plans(history: History) -> Iterator[tuple[EndpointVersion, Plan]]:
    plans: dict[UUID, Plan] = {}
    for version in history.endpoint_versions:
        plan = version.endpoint.plan
        if plan is not None and plan != plans.get(version.endpoint.id):
            plans[version.endpoint.id] = plan
            yield version, plan


def _planned_again(endpoint: Endpoint, plan: Plan) -> datetime | None:
    inputs = plan.inputs
    situation = replace(
        endpoint,
        last_run_at=inputs.anchor_at,
        last_slot_at=inputs.last_slot_at,
        failure_count=inputs.failure_count,
        plan=None,
        running_slot_at=None,
        running_is_manual=False,
    )
    if plan.source is Source.RESUMED:  # due at once, within its floor
        floor = floor_at(situation, situation.last_run_at)
        return latest(inputs.now, floor[0] if floor else None, after_last_slot(situation))
    return plan_next_run(inputs.now, situation, CRON, after_run=inputs.after_run).next_run_at


def expired_hints(history: History) -> Iterator[Violation]:
    """No hint acts after it expired: what is planned from it comes before its end."""
    for version, plan in _new_plans(history):
        if plan.winner not in HINTS or plan.next_run_at is None:
            continue
        endpoint = version.endpoint
        is_interval = plan.winner is Source.AI_INTERVAL
        hint = endpoint.interval_hint if is_interval else endpoint.one_shot_hint
        if plan.source is not Source.PAUSED and (
            hint is None or plan.next_run_at > hint.expires_at
        ):
            text = f"planned {plan.next_run_at}, of {hint}"
            yield Violation("expired_hint", endpoint.id, version.at, text)


def vanished_hints(history: History) -> Iterator[Violation]:
    """The end of a run takes no interval hint away that has not expired."""
    before: dict[UUID, Endpoint] = {}
    for version in history.endpoint_versions:
        endpoint, earlier = version.endpoint, before.get(version.endpoint.id)
        before[endpoint.id] = endpoint
        if earlier is None or not earlier.in_flight or endpoint.in_flight:
            continue
        hint = earlier.interval_hint
        if hint and endpoint.interval_hint is None and hint.expires_at > version.at:
            text = f"{hint} was gone at {version.at}"
            yield Violation("vanished_hint", endpoint.id, version.at, text)
