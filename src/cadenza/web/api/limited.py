"""The stores as somebody sees them whose role is for single jobs: put together in one place."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from cadenza.application.job_limits.guard import Guard
from cadenza.application.job_limits.reads import (
    LimitedActivity,
    LimitedAnswers,
    LimitedCatalogue,
    LimitedIds,
    LimitedNotifications,
    LimitedRecords,
    LimitedRuns,
    LimitedScores,
    LimitedSteering,
    LimitedSuggestions,
    Refusing,
)
from cadenza.application.job_limits.store import LimitedStore
from cadenza.application.job_limits.tenant_wide import LimitedUsage, Nothing
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.score import ScoreReads
from cadenza.domain.people import JobLimits

if TYPE_CHECKING:
    from cadenza.web.api.dependencies import Stores


def limited_stores(stores: "Stores", limits: JobLimits, clock: Clock) -> "Stores":
    """What is not named here says nothing of a job: tenants, graphs, workers, readiness."""
    guard = Guard(limits)
    catalogue = LimitedCatalogue(stores.jobs, stores.endpoints, guard)
    limited = replace(
        stores,
        store=LimitedStore(stores.store, guard),
        endpoints=catalogue,  # its secrets are for those who may operate it
        keys=cast("Any", Refusing()),
        signing_keys=cast("Any", Refusing()),
        people=cast("Any", Refusing()),
    )
    if limits.readable is None:
        return limited
    records = LimitedRecords(stores.records, catalogue)
    activity = LimitedActivity(stores.activity, catalogue)
    return replace(
        limited,
        jobs=catalogue,
        runs=LimitedRuns(stores.runs, catalogue),
        records=records,
        usage=LimitedUsage(stores.usage, catalogue, activity, clock),
        latest_answers=LimitedAnswers(stores.latest_answers, catalogue),
        suggestions=LimitedSuggestions(stores.suggestions, records),
        billing=cast("Any", Nothing()),
        grants=cast("Any", Nothing()),
        schedules=cast("Any", Nothing()),
        ids=LimitedIds(stores.ids, guard),
        steering=LimitedSteering(stores.steering, guard),
        scores=cast("ScoreReads", LimitedScores(stores.scores, guard)),
        activity=activity,
        notifications=cast("Any", LimitedNotifications(stores.notifications, guard)),
    )
