"""The planner stopped everywhere at once, and started again as it was.

A job's own modes come before its tenant's, so both are switched off. What they were is kept until
the start, which puts back what is still as the stop left it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.rule import Mode, Modes

BRAINS = ("rules", "detectors", "llm")
ALL_OFF = Modes(Mode.OFF, Mode.OFF, Mode.OFF)
OwnModes = Mapping[str, Mode]  # by brain; only those that let it do something


@dataclass(frozen=True, slots=True)
class PlannerStop:
    tenant_id: UUID
    stopped_at: datetime
    stopped_by: UUID | None  # the user; None: the installation's admin
    reason: str
    modes: Modes  # of the tenant, before
    jobs: Mapping[UUID, OwnModes] = field(default_factory=dict[UUID, OwnModes])

    def again(self, modes: Modes, jobs: Mapping[UUID, OwnModes]) -> "PlannerStop":
        """Stopped once more: what was switched on since is remembered in place of what was."""
        both = {
            job_id: {**self.jobs.get(job_id, {}), **jobs.get(job_id, {})}
            for job_id in (*self.jobs, *jobs)
        }
        return replace(self, modes=replace(self.modes, **own_modes(modes)), jobs=both)

    def given_back(self, modes: Modes) -> Modes:
        """The tenant's: what somebody has set since stays."""
        return replace(modes, **_still_off(modes, own_modes(self.modes)))

    def given_back_to(self, job_id: UUID, policy: PlannerPolicy) -> PlannerPolicy:
        return replace(policy, **_still_off(policy, self.jobs.get(job_id, {})))


def own_modes(of: Modes | PlannerPolicy) -> dict[str, Mode]:
    """Those that let a brain do something; a job may have none of its own."""
    own: dict[str, Mode | None] = {brain: getattr(of, brain) for brain in BRAINS}
    return {brain: mode for brain, mode in own.items() if mode not in (None, Mode.OFF)}


def switched_off(policy: PlannerPolicy) -> PlannerPolicy:
    """A mode that the job leaves to its tenant stays left to it."""
    return replace(policy, **dict.fromkeys(own_modes(policy), Mode.OFF))


def _still_off(of: Modes | PlannerPolicy, before: OwnModes) -> dict[str, Mode]:
    return {brain: mode for brain, mode in before.items() if getattr(of, brain) is Mode.OFF}
