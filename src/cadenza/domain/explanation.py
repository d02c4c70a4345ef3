"""Why an endpoint runs next when it does, and what would change it, in sentences.

What would be otherwise is not guessed: the governor plans it with that one thing changed.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cadenza.domain.backoff import backed_off
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import PLATFORM_MIN_INTERVAL, CronLine, Endpoint, Every, fresh_hints
from cadenza.domain.governor import plan_next_run
from cadenza.domain.hint import Author, Hint, IntervalHint, Pause
from cadenza.domain.instants import FOREVER, humanize, iso
from cadenza.domain.plan import Candidate, Plan, Source

_CHOSEN = {
    Source.BASELINE_CRON: "the cron schedule",
    Source.BASELINE_INTERVAL: "the interval",
    Source.AI_INTERVAL: "the interval hint",
    Source.AI_ONESHOT: "the one-shot hint",
    Source.CLAMPED_MIN: "the minimum interval",
    Source.CLAMPED_MAX: "the maximum interval",
    Source.RETRY_AFTER: "the target's Retry-After",
    Source.PAUSED: "a pause",
    Source.RESUMED: "resuming it",
    Source.MANUAL: "a manual run",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    summary: str
    plan: Plan | None
    because: tuple[str, ...]
    would_change: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobPause:
    """Who paused the job of an endpoint, and why: the endpoint knows only until when."""

    by: str | None = None
    reason: str = ""


def explain(
    endpoint: Endpoint, now: datetime, cron: Cron, job_pause: JobPause | None = None
) -> Explanation:
    """About the plan that is stored: what will happen unless something happens first."""
    return Explanation(
        summary=_summary(endpoint, now),
        plan=endpoint.plan,
        because=tuple(_because(endpoint)),
        would_change=tuple(_would_change(endpoint, now, cron, job_pause or JobPause())),
    )


def _summary(endpoint: Endpoint, now: datetime) -> str:
    if endpoint.archived_at is not None:
        return f"Archived at {iso(endpoint.archived_at)}. It does not run unless it is restored."
    if endpoint.running_slot_at is not None:
        slot = iso(endpoint.running_slot_at)
        return f"A run, due at {slot}, is in progress. The next one is planned when it ends."
    plan = endpoint.plan
    if plan is None or plan.next_run_at is None or plan.source is None:
        reason = f" ({plan.note})" if plan is not None and plan.note else ""
        return f"No run is scheduled. It runs when a hint or a person asks for it{reason}."
    if plan.next_run_at >= FOREVER:
        return "Paused until resumed."
    due = "Due now" if plan.next_run_at <= now else f"Next run at {iso(plan.next_run_at)}"
    return f"{due}, set by {_CHOSEN[plan.source]}."


def _because(endpoint: Endpoint) -> list[str]:
    plan = endpoint.plan
    if plan is None or endpoint.archived_at is not None:
        return []
    sentences = [_candidate(candidate, plan) for candidate in plan.candidates]
    sentences += [_clamp(clamp, endpoint) for clamp in plan.clamps]
    inputs = plan.inputs
    if inputs.failure_count and endpoint.backs_off and isinstance(endpoint.baseline, Every):
        sentences.append(_backoff(endpoint.baseline, inputs.failure_count, inputs.jitter))
    if inputs.overrun:
        sentences.append(
            "The last run took longer than the interval, so the next one is counted from its end."
        )
    if plan.source is Source.PAUSED:
        sentences.append("A pause delays it.")
    if plan.note:
        sentences.append(f"The schedule cannot be followed: {plan.note}.")
    return sentences


def _candidate(candidate: Candidate, plan: Plan) -> str:
    sentence = f"{_CHOSEN[candidate.source].capitalize()} gives {iso(candidate.at)}"
    if candidate.excluded is not None:
        return f"{sentence}, which was not considered: {candidate.excluded}."
    return f"{sentence}, which was chosen." if candidate.source is plan.winner else f"{sentence}."


def _clamp(clamp: Source, endpoint: Endpoint) -> str:
    if clamp is Source.CLAMPED_MIN:
        least = endpoint.min_interval or PLATFORM_MIN_INTERVAL
        return f"Moved later: runs must be at least {humanize(least)} apart."
    if clamp is Source.CLAMPED_MAX and endpoint.max_interval is not None:
        return f"Moved earlier: runs may be at most {humanize(endpoint.max_interval)} apart."
    if clamp is Source.RETRY_AFTER:
        return "Moved later: the target asked for it with Retry-After."
    return f"Moved by {_CHOSEN[clamp]}."


def _backoff(baseline: Every, failures: int, jitter: timedelta) -> str:
    interval = humanize(backed_off(baseline.interval, failures))
    runs = "1 failure" if failures == 1 else f"{failures} failures"
    drift = f", plus {humanize(jitter)} of jitter" if jitter else ""
    plain = humanize(baseline.interval)
    raised = f"back-off has raised the interval from {plain} to {interval}"
    return f"After {runs} in a row, {raised}{drift}."


def _would_change(endpoint: Endpoint, now: datetime, cron: Cron, job_pause: JobPause) -> list[str]:
    if endpoint.archived_at is not None:
        return []
    sentences = _pauses(endpoint, now, cron, job_pause)
    for hint in fresh_hints(endpoint, now):
        if hint is not None:
            sentences.append(_hint(endpoint, hint, now, cron))
    if isinstance(endpoint.baseline, Every):
        sentences += _failures(endpoint, endpoint.baseline)
    if endpoint.not_before_at is not None and endpoint.not_before_at > now:
        sentences.append(
            f"The target asked for no request before {iso(endpoint.not_before_at)} (Retry-After)."
        )
    return [*sentences, *_limits(endpoint)]


def _pauses(endpoint: Endpoint, now: datetime, cron: Cron, job_pause: JobPause) -> list[str]:
    job_until = endpoint.job_paused_until
    whose = f"through its job, by {job_pause.by}," if job_pause.by else "through its job"
    pauses = (
        ("by a person", endpoint.person_pause),
        ("by the planner", endpoint.planner_pause),
        (whose, Pause(job_until, job_pause.reason) if job_until else None),
    )
    sentences = [
        f"Paused {who} {_until(pause.until_at)}{_reason(pause.reason)}."
        for who, pause in pauses
        if pause is not None and pause.until_at > now
    ]
    if sentences and not endpoint.in_flight:
        free = replace(endpoint, person_pause=None, planner_pause=None, job_paused_until=None)
        sentences.append(f"Without the pause, {_then(free, now, cron)}.")
    return sentences


def _until(until_at: datetime) -> str:
    return "until resumed" if until_at >= FOREVER else f"until {iso(until_at)}"


def _hint(endpoint: Endpoint, hint: Hint, now: datetime, cron: Cron) -> str:
    author = "a person" if hint.author is Author.PERSON else "the planner"
    if isinstance(hint, IntervalHint):
        wish = f"runs it every {humanize(hint.interval)} until"
        without = replace(endpoint, interval_hint=None)
    else:
        wish = f"runs it once at {iso(hint.run_at)}, and expires at"
        without = replace(endpoint, one_shot_hint=None)
    otherwise = "" if endpoint.in_flight else f" Without it, {_then(without, now, cron)}."
    return f"A hint by {author} {wish} {iso(hint.expires_at)}{_reason(hint.reason)}.{otherwise}"


def _reason(reason: str) -> str:
    return f": {reason.rstrip('.')}" if reason else ""


def _then(changed: Endpoint, now: datetime, cron: Cron) -> str:
    """What the governor would decide if it were planned anew."""
    plan = plan_next_run(now, replace(changed, plan=None), cron, after_run=False)
    if plan.next_run_at is None or plan.source is None:
        return "no run would be scheduled"
    if plan.next_run_at >= FOREVER:
        return "it would stay paused"
    return f"the next run would be at {iso(plan.next_run_at)}, set by {_CHOSEN[plan.source]}"


def _failures(endpoint: Endpoint, baseline: Every) -> list[str]:
    """What they do to its interval; where there are some, how to switch that off, too."""
    if not endpoint.failure_count:
        return []
    if not endpoint.backs_off:
        return ["Failures do not slow it down: back-off is switched off (backoff: none)."]
    plain = humanize(baseline.interval)
    if fresh := endpoint.interval_hint:
        plain = f"{plain} (once the hint of {humanize(fresh.interval)} has expired)"
    present = backed_off(baseline.interval, endpoint.failure_count)
    longer = backed_off(baseline.interval, endpoint.failure_count + 1)
    further = (
        f"Another failure raises it to {humanize(longer)}"
        if longer > present
        else f"Further failures do not raise it above {humanize(present)}"
    )
    return [
        f"A success resets the interval to {plain}. {further}.",
        "To keep the interval while it fails, switch back-off off (backoff: none).",
    ]


def _limits(endpoint: Endpoint) -> list[str]:
    sentences: list[str] = []
    if endpoint.min_interval is not None:
        least = humanize(endpoint.min_interval)
        sentences.append(f"Only a manual run can come less than {least} after another run.")
    if endpoint.max_interval is not None and not isinstance(endpoint.baseline, CronLine):
        most = humanize(endpoint.max_interval)
        sentences.append(f"Only a pause or Retry-After can keep runs more than {most} apart.")
    return sentences
