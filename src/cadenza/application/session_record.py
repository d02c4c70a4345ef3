"""What is kept of a session: how it ended, what it used, when the endpoint is looked at next."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.ports.brain import Brain, Usage
from cadenza.application.ports.clock import Clock
from cadenza.application.sanitizing import clean_text
from cadenza.application.session_metering import MeteredTools
from cadenza.application.tools import Submission, Toolbox
from cadenza.domain.analysis import AnalysisContext, Attention, back_off
from cadenza.domain.billing import NO_TOKENS
from cadenza.domain.bounds import MAX_TOOL_CALLS
from cadenza.domain.errors import BrainFailed, ProviderFailed
from cadenza.domain.session import Session, SessionEnd

UNASKED_ANALYSIS = timedelta(hours=1)
NOT_SUBMITTED = "the model ended without submit_analysis"
OUT_OF_CALLS = f"the model used its {MAX_TOOL_CALLS} tool calls without submit_analysis"


@dataclass(frozen=True, slots=True)
class SessionRecorder:
    brain: Brain
    clock: Clock
    new_id: Callable[[], UUID]

    def ended(
        self,
        session_id: UUID,
        context: AnalysisContext,
        tools: MeteredTools,
        error: Exception | None,
    ) -> Session:
        submission, usage, meter = tools.toolbox.submission, tools.usage, tools.meter
        end, trouble = self._ending(tools.toolbox, error)
        failed_looks = context.failed_looks + 1 if trouble else 0
        of_provider = isinstance(error, ProviderFailed)
        failed = (f"the brain failed: {trouble}",) if trouble else ()
        return replace(
            self.idle(context, usage),
            id=session_id,
            end=end,
            tool_calls=tuple(tools.toolbox.calls),
            reasoning=submission.reasoning if submission else "",
            confidence=submission.confidence if submission else None,
            tokens=usage.tokens,
            cost=usage.cost,
            usage=meter.usage if meter is not None else NO_TOKENS,
            account_id=meter.account_id if meter is not None else None,
            warnings=(*usage.warnings, *failed),
            next_analysis_at=self._next_analysis_at(submission, failed_looks, of_provider),
            prompt_version=usage.prompt_version,
            fired=usage.fired,
            forgotten=_forgotten(context),
            failed_looks=failed_looks,
            trouble=trouble,
        )

    def idle(self, context: AnalysisContext, usage: Usage) -> Session:
        """A session that came to nothing, without tools."""
        return Session(
            id=self.new_id(),
            tenant_id=context.endpoint.tenant_id,
            job_id=context.endpoint.job_id,
            endpoint_id=context.endpoint.id,
            brain=self.brain.name,
            started_at=context.now,
            duration=self.clock.now() - context.now,
            end=SessionEnd.UNFINISHED,
            warnings=usage.warnings,
            memory=usage.memory,
            next_analysis_at=self._next_analysis_at(None),
            reason=context.reason,
        )

    def _ending(self, tools: Toolbox, error: Exception | None) -> tuple[SessionEnd, str]:
        """How it ended, and why that is a failure, if it is one."""
        if error is not None:
            return SessionEnd.FAILED, failure_of(error)
        if tools.submission is not None:
            return SessionEnd.SUBMITTED, ""
        is_model = self.brain.attention is Attention.ON_CHANGE
        if tools.out_of_calls or len(tools.calls) >= MAX_TOOL_CALLS:
            return SessionEnd.OUT_OF_CALLS, OUT_OF_CALLS if is_model else ""
        return (SessionEnd.FAILED, NOT_SUBMITTED) if is_model else (SessionEnd.UNFINISHED, "")

    def _next_analysis_at(
        self, submission: Submission | None, failed_looks: int = 0, of_provider: bool = False
    ) -> datetime | None:
        if self.brain.attention is not Attention.ON_CHANGE:
            return submission.next_analysis_at if submission is not None else None
        if failed_looks:
            return self.clock.now() + back_off(failed_looks, of_provider=of_provider)
        if submission is not None and submission.next_analysis_at is not None:
            return submission.next_analysis_at
        # No time was asked for, and a brain that waits for changes might never come back.
        return self.clock.now() + UNASKED_ANALYSIS


def failure_of(error: Exception) -> str:
    reason = error.reason if isinstance(error, BrainFailed) else f"{type(error).__name__}: {error}"
    return clean_text(reason[:500])


def _forgotten(context: AnalysisContext) -> tuple[UUID, ...]:
    """Rules that once did something, and that their owner has taken out of the job."""
    declared = {rule.id for rule in context.job.rules}
    return tuple(rule_id for rule_id in context.fired_at if rule_id not in declared)
