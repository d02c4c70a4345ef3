"""Sessions: one analysis of one endpoint, stored with everything that it did and wanted."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, cast
from uuid import UUID

from cadenza.domain.analysis import AnalysisReason
from cadenza.domain.billing import NO_TOKENS, TokenUsage
from cadenza.domain.instants import latest


class SessionEnd(StrEnum):
    SUBMITTED = "submitted"
    UNFINISHED = "unfinished"  # a brain that costs nothing had nothing to submit
    OUT_OF_CALLS = "out-of-calls"
    FAILED = "failed"
    SKIPPED = "skipped"  # a limit is reached, or nobody pays for it; it was not held


@dataclass(frozen=True, slots=True)
class ToolCall:
    tool: str
    arguments: Any  # as they came, cut and cleaned; not necessarily an object
    result: dict[str, Any]
    took_effect: bool = False
    suggested: bool = False  # it would have taken effect, had the planner been allowed to act
    holds_until: datetime | None = None  # what it wrote; or how long a person may accept it
    accepted_by: str | None = None  # of what was suggested
    rule_id: UUID | None = None  # the declared rule that it was for
    repeated: bool = False  # the same has been suggested before, and still waits for a person
    refusal: str | None = None  # the kind of refusal, where it was refused

    dismissed_by: str | None = None  # who does not want what was suggested

    def is_open(self, now: datetime) -> bool:
        """Suggested, in its time, and not accepted: the same is not suggested again meanwhile."""
        is_in_time = self.holds_until is not None and self.holds_until > now
        return is_in_time and self.suggested and self.accepted_by is None

    def can_be_accepted(self, now: datetime) -> bool:
        return self.is_open(now) and self.dismissed_by is None


@dataclass(frozen=True, slots=True)
class Session:
    id: UUID
    tenant_id: UUID
    job_id: UUID
    endpoint_id: UUID
    brain: str
    started_at: datetime
    duration: timedelta
    end: SessionEnd
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    confidence: float | None = None
    tokens: int = 0
    cost: float = 0.0  # in dollars
    warnings: tuple[str, ...] = ()
    next_analysis_at: datetime | None = None
    prompt_version: str | None = None  # of a brain that has a prompt
    fired: tuple[UUID, ...] = ()  # the declared rules that did something
    forgotten: tuple[UUID, ...] = ()  # rules that once did, and that the job no longer has
    repeats: int = 0  # how often the same was refused again
    last_at: datetime | None = None  # when it last was
    reason: AnalysisReason | None = None  # why it was held
    usage: TokenUsage = NO_TOKENS  # what its tokens were
    account_id: UUID | None = None  # that paid
    failed_looks: int = 0  # failing sessions in a row, with this one
    trouble: str = ""  # why it failed, or was not held
    memory: Mapping[str, Any] | None = None  # what the brain remembers from now; None: as before

    @property
    def kind(self) -> str:
        """The kind of its brain: what is known of an endpoint outlives a change of the model."""
        return kind_of(self.brain)

    @property
    def worth_keeping(self) -> bool:
        """An analysis that cost nothing and wanted nothing is counted, not stored."""
        wanted = any(call.tool not in IDLE_TOOLS and not call.repeated for call in self.tool_calls)
        ended_badly = self.end in (SessionEnd.OUT_OF_CALLS, SessionEnd.FAILED, SessionEnd.SKIPPED)
        return wanted or ended_badly or self.tokens > 0 or bool(self.warnings)

    @property
    def refusal(self) -> str | None:
        """What was refused, where it cost nothing: the same again is no session of its own."""
        return self.refused if self.tokens == 0 else None

    @property
    def refused(self) -> str | None:
        """What was refused, by which kind of refusal, where the session came to nothing else."""
        has_effect = any(
            call.took_effect or call.suggested or call.repeated for call in self.tool_calls
        )
        ended_well = self.end in (SessionEnd.SUBMITTED, SessionEnd.UNFINISHED)
        if has_effect or not ended_well:
            return None
        refusals = sorted(_refused(call) for call in self.tool_calls if call.refusal is not None)
        return "\n".join((*refusals, *self.warnings)) or None

    def with_earlier(self, session: "Session") -> "Session":
        """One for both, where the same was refused: a model's sessions cost, and each is kept, but
        who looks back reads it once, with the count and what they cost together."""
        return replace(
            self,
            last_at=self.last_at or self.started_at,
            repeats=self.repeats + session.repeats + 1,
            tokens=self.tokens + session.tokens,
            cost=self.cost + session.cost,
            usage=self.usage.plus(session.usage),
        )

    @property
    def is_news_of_failure(self) -> bool:
        """A brain that costs nothing may fail with every run: that is told with the first."""
        return bool(self.trouble) and (
            self.failed_looks == 1 or self.reason is AnalysisReason.RETRY
        )

    @property
    def suggests_until(self) -> datetime | None:
        """How long something of it can be accepted; None where it suggested nothing."""
        return latest(*(call.holds_until for call in self.tool_calls if call.suggested))


def _refused(call: ToolCall) -> str:
    """Not its other arguments: instants and intervals differ a little each time."""
    is_object = isinstance(call.arguments, dict)
    target = cast("dict[str, Any]", call.arguments).get("endpoint", "") if is_object else ""
    return f"{call.refusal} {call.tool} {target} {call.rule_id or ''}"


def kind_of(brain: str) -> str:
    """`llm` of `llm openai gpt-4o`."""
    return brain.partition(" ")[0]


IDLE_TOOLS = frozenset(
    {
        "get_latest_response",
        "get_response_history",
        "get_sibling_latest_responses",
        "submit_analysis",
    }
)
