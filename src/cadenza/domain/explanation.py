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
    Source.BASELINE_CRON: "its cron line",
    Source.BASELINE_INTERVAL: "its interval",
    Source.AI_INTERVAL: "the interval hint",
    Source.AI_ONESHOT: "the one-shot hint",
    Source.CLAMPED_MIN: "its min interval",
    Source.CLAMPED_MAX: "its max interval",
    Source.RETRY_AFTER: "the target's Retry-After",
    Source.PAUSED: "a pause",
    Source.RESUMED: "its being resumed",
    Source.MANUAL: "a person",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    summary: str
    plan: Plan | None
    because: tuple[str, ...]
    would_change: tuple[str, ...]


def explain(endpoint: Endpoint, now: datetime, cron: Cron) -> Explanation:
    """About the plan that is stored: what will happen unless something happens first."""
    return Explanation(
        summary=_summary(endpoint, now),
        plan=endpoint.plan,
        because=tuple(_because(endpoint)),
        would_change=tuple(_would_change(endpoint, now, cron)),
    )


def _summary(endpoint: Endpoint, now: datetime) -> str:
    if endpoint.archived_at is not None:
        return f"It was archived at {iso(endpoint.archived_at)}: it runs again if it is restored."
    if endpoint.running_slot_at is not None:
        slot = iso(endpoint.running_slot_at)
        return f"The run of {slot} is in flight; when it ends, the next one is planned."
    plan = endpoint.plan
    if plan is None or plan.next_run_at is None or plan.source is None:
        reason = f" ({plan.note})" if plan is not None and plan.note else ""
        return f"Nothing asks for a run: it waits for a hint or a person{reason}."
    if plan.next_run_at >= FOREVER:
        return "It is paused until somebody resumes it."
    due = "It is due now" if plan.next_run_at <= now else f"It runs next at {iso(plan.next_run_at)}"
    return f"{due}: {_CHOSEN[plan.source]} decided."


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
            "The last run took longer than the time to the next, so that it was counted from its "
            "end."
        )
    if plan.source is Source.PAUSED:
        sentences.append("A pause holds it back.")
    if plan.note:
        sentences.append(f"Its baseline cannot be followed: {plan.note}.")
    return sentences


def _candidate(candidate: Candidate, plan: Plan) -> str:
    sentence = f"{_CHOSEN[candidate.source].capitalize()} asked for {iso(candidate.at)}"
    if candidate.excluded is not None:
        return f"{sentence}, which was no candidate: {candidate.excluded}."
    return f"{sentence}, and was chosen." if candidate.source is plan.winner else f"{sentence}."


def _clamp(clamp: Source, endpoint: Endpoint) -> str:
    if clamp is Source.CLAMPED_MIN:
        least = endpoint.min_interval or PLATFORM_MIN_INTERVAL
        return f"It was moved later: at least {humanize(least)} lie between two runs."
    if clamp is Source.CLAMPED_MAX and endpoint.max_interval is not None:
        return f"It was moved earlier: at most {humanize(endpoint.max_interval)} lie between runs."
    if clamp is Source.RETRY_AFTER:
        return "It was moved later: the target asked not to be called before."
    return f"It was moved by {_CHOSEN[clamp]}."


def _backoff(baseline: Every, failures: int, jitter: timedelta) -> str:
    interval = humanize(backed_off(baseline.interval, failures))
    runs = "1 failure" if failures == 1 else f"{failures} failures"
    drift = f", and {humanize(jitter)} so as not to return with others" if jitter else ""
    plain = humanize(baseline.interval)
    return f"After {runs} in a row its interval of {plain} has become {interval}{drift}."


def _would_change(endpoint: Endpoint, now: datetime, cron: Cron) -> list[str]:
    if endpoint.archived_at is not None:
        return []
    sentences = _pauses(endpoint, now, cron)
    for hint in fresh_hints(endpoint, now):
        if hint is not None:
            sentences.append(_hint(endpoint, hint, now, cron))
    if isinstance(endpoint.baseline, Every):
        sentences += _failures(endpoint, endpoint.baseline)
    if endpoint.not_before_at is not None and endpoint.not_before_at > now:
        sentences.append(f"The target wants no request before {iso(endpoint.not_before_at)}.")
    return [*sentences, *_limits(endpoint)]


def _pauses(endpoint: Endpoint, now: datetime, cron: Cron) -> list[str]:
    job_until = endpoint.job_paused_until
    pauses = (
        ("A person", endpoint.person_pause),
        ("The planner", endpoint.planner_pause),
        ("The pause of its job", Pause(job_until) if job_until else None),
    )
    sentences = [
        f"{who} holds it back {_until(pause.until_at)}{_reason(pause.reason)}."
        for who, pause in pauses
        if pause is not None and pause.until_at > now
    ]
    if sentences and not endpoint.in_flight:
        free = replace(endpoint, person_pause=None, planner_pause=None, job_paused_until=None)
        sentences.append(f"Without a pause {_then(free, now, cron)}.")
    return sentences


def _until(until_at: datetime) -> str:
    return "until it is resumed" if until_at >= FOREVER else f"until {iso(until_at)}"


def _hint(endpoint: Endpoint, hint: Hint, now: datetime, cron: Cron) -> str:
    author = "A person" if hint.author is Author.PERSON else "The planner"
    if isinstance(hint, IntervalHint):
        wish = f"asks for a run every {humanize(hint.interval)} until"
        without = replace(endpoint, interval_hint=None)
    else:
        wish = f"asks for one run at {iso(hint.run_at)}, if it can be before"
        without = replace(endpoint, one_shot_hint=None)
    otherwise = "" if endpoint.in_flight else f"; without that {_then(without, now, cron)}"
    return f"{author} {wish} {iso(hint.expires_at)}{_reason(hint.reason)}{otherwise}."


def _reason(reason: str) -> str:
    return f" ({reason})" if reason else ""


def _then(changed: Endpoint, now: datetime, cron: Cron) -> str:
    """What the governor would decide if it were planned anew."""
    plan = plan_next_run(now, replace(changed, plan=None), cron, after_run=False)
    if plan.next_run_at is None or plan.source is None:
        return "nothing would ask for a run"
    if plan.next_run_at >= FOREVER:
        return "it would stay paused"
    return f"it would run at {iso(plan.next_run_at)}, by {_CHOSEN[plan.source]}"


def _failures(endpoint: Endpoint, baseline: Every) -> list[str]:
    """What they do to its interval; where there are some, how to switch that off, too."""
    if not endpoint.failure_count:
        return []
    if not endpoint.backs_off:
        return ["Failures do not slow it down: its back-off is switched off (backoff: none)."]
    plain = humanize(baseline.interval)
    if fresh := endpoint.interval_hint:
        plain = f"{plain} (once the hint of {humanize(fresh.interval)} has expired)"
    present = backed_off(baseline.interval, endpoint.failure_count)
    longer = backed_off(baseline.interval, endpoint.failure_count + 1)
    further = (
        f"Another failure makes it {humanize(longer)}"
        if longer > present
        else f"It is {humanize(present)} at most, however many more fail"
    )
    return [
        f"A success ends the back-off: the interval is {plain} again. {further}.",
        "`backoff: none` switches the back-off off: it then keeps its interval while it fails.",
    ]


def _limits(endpoint: Endpoint) -> list[str]:
    sentences: list[str] = []
    if endpoint.min_interval is not None:
        least = humanize(endpoint.min_interval)
        sentences.append(f"Nothing but a person brings two runs closer together than {least}.")
    if endpoint.max_interval is not None and not isinstance(endpoint.baseline, CronLine):
        most = humanize(endpoint.max_interval)
        limit = f"keeps two runs further apart than {most}"
        sentences.append(f"Nothing but a pause or the target {limit}.")
    return sentences
