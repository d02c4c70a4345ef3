"""The detectors over somebody else's probes: a policy decides when, the eyes say what they see.

"Fixed" gets the same detectors as the rules brain, and so does every other policy; nobody acts.
"""

from collections import deque
from datetime import timedelta
from math import inf

from benchmarks.adaptation.life import EPOCH, NAMES_A_CHANGE, SPACE, Lived, RunningHealth
from benchmarks.adaptation.policies import FLOOR, Wait
from benchmarks.adaptation.traces import Trace
from cadenza.domain.analysis import RECENT_RESPONSES, AnalysisContext, Response
from cadenza.domain.detectors.case import Case
from cadenza.domain.detectors.decide import decide
from cadenza.domain.endpoint import Endpoint, Every, Job
from cadenza.domain.run import RunStatus
from cadenza.domain.spending import Budget

_JOB = Job(SPACE, SPACE, "replay")
_NO_LIMIT = Budget(factor=inf, relax=1.0)
_ZERO = timedelta(0)


class Eyes:
    """What the detectors say of one target, answer by answer."""

    def __init__(self, trace: Trace, baseline: float) -> None:
        self._trace = trace
        self._pace = timedelta(seconds=baseline)
        self._endpoint = Endpoint(
            id=SPACE,
            tenant_id=SPACE,
            job_id=SPACE,
            name=trace.name,
            baseline=Every(self._pace),
            created_at=EPOCH,
            min_interval=timedelta(seconds=FLOOR),
        )
        self._recent = deque[Response](maxlen=RECENT_RESPONSES)
        self._health = RunningHealth()

    def look(self, at: float) -> tuple[bool, bool]:
        """Whether a probe at this moment finds it down, and whether a change is named."""
        now, outcome = EPOCH + timedelta(seconds=at), self._trace.answer(at)
        is_well = outcome.status is RunStatus.SUCCESS
        self._health.add(now, is_well)
        answer = Response(now, now, outcome.status, outcome.body, _ZERO, outcome.status_code)
        self._recent.appendleft(answer)
        context = AnalysisContext(
            now, self._endpoint, _JOB, self._health.health(0), (), recent=tuple(self._recent)
        )
        findings = decide(Case(context, self._pace, _NO_LIMIT)).findings
        return not is_well, any(finding.detector in NAMES_A_CHANGE for finding in findings)


def watch(trace: Trace, baseline: float, phase: float, wait: Wait) -> Lived:
    """A life under a policy; what is wrong to it is a failure, or a change that is named."""
    lived, eyes, at = Lived(), Eyes(trace, baseline), phase
    while at < trace.length:
        is_down, is_named = eyes.look(at)
        lived.probes.append(at)
        lived.downs.append(is_down)
        if is_named:
            lived.named_at.append(at)
        at += wait(at, is_down or is_named)
    return lived


def watch_at(trace: Trace, baseline: float, times: list[float]) -> Lived:
    """The same at given moments."""
    eyes, lived = Eyes(trace, baseline), Lived(probes=times)
    for at in times:
        is_down, is_named = eyes.look(at)
        lived.downs.append(is_down)
        if is_named:
            lived.named_at.append(at)
    return lived
