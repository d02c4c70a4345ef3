"""The end of a run, as it is stored."""

from dataclasses import dataclass, replace
from datetime import datetime

from cadenza.domain.endpoint import Endpoint
from cadenza.domain.plan import Plan


@dataclass(frozen=True, slots=True)
class Finish:
    """An endpoint after a run, its next plan, and the slots that were skipped meanwhile."""

    settled: Endpoint
    plan: Plan
    skipped_slots: int = 0
    skipped_reason: str | None = None
    moves_anchor: bool = True

    @property
    def anchor_at(self) -> datetime | None:
        return self.plan.anchor_at if self.moves_anchor else self.settled.last_run_at

    @property
    def endpoint(self) -> Endpoint:
        return replace(self.settled, plan=self.plan, last_run_at=self.anchor_at)
