"""A model over the recorded history of a job, judged beside the plain baselines."""

from collections.abc import Mapping

from cadenza.application.ports.brain import Brain
from cadenza.domain.definition import JobDefinition
from cadenza.replay.compare import Comparison, Lane, against, compare_brain
from cadenza.replay.evaluation.judging import Verdict
from cadenza.replay.history import History
from cadenza.replay.life import Life
from cadenza.replay.purse import Purse

EXPECTED = "changes are seen sooner than by the baseline at least as often as later"


async def verdict_on_history(
    job: JobDefinition, histories: Mapping[str, History], brain: Brain, purse: Purse
) -> Verdict:
    names = [endpoint.name for endpoint in job.endpoints]
    comparisons, life = await compare_brain(job, histories, brain, names, purse)
    failures = [failure for comparison in comparisons for failure in _later(comparison)]
    did = "; ".join(map(_summary, comparisons)) + _cut(life, purse)
    if life.failed:
        failures.append(f"{life.failed} of {purse.sessions} sessions failed")
    name = f"history of {job.name}"
    return Verdict(name, EXPECTED, did, tuple(failures), purse.tokens, purse.cost)


def _later(comparison: Comparison) -> list[str]:
    baseline, model = _lanes(comparison)
    sooner, later = against(model, baseline)
    if later <= sooner:
        return []
    return [f"{comparison.endpoint}: {later} changes seen later, {sooner} sooner"]


def _summary(comparison: Comparison) -> str:
    baseline, model = _lanes(comparison)
    sooner, later = against(model, baseline)
    probes = f"{len(model.probes)} probes beside {len(baseline.probes)}"
    return f"{comparison.endpoint}: {sooner} sooner, {later} later, {probes}"


def _lanes(comparison: Comparison) -> tuple[Lane, Lane]:
    """The baseline's, and the model's, which is the last."""
    baseline = next(lane for lane in comparison.lanes if lane.who == "baseline")
    return baseline, comparison.lanes[-1]


def _cut(life: Life, purse: Purse) -> str:
    return f" (until {life.end:%d %b %H:%M}, after {purse.sessions} sessions)" * life.is_cut
