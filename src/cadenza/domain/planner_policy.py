"""What an owner lets planners do with a job: who may act, how far, and what it may cost."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import humanize
from cadenza.domain.rule import Mode, Modes
from cadenza.domain.target_validation import check_storable

RELAXED = 1.5  # what `relax: true` means
MAX_RELAX = 10.0
MAX_EXTRA_RUNS = 100.0
LONGEST_PAUSE = timedelta(days=30)  # that an owner may allow
SHORTEST_GAP, LONGEST_GAP = timedelta(minutes=1), timedelta(days=1)
MAX_MODEL = 200
MAX_PROMPT = 4_000
MAX_TOKENS = 10**12
MAX_MONEY = 1_000_000.0


@dataclass(frozen=True, slots=True)
class PlannerPolicy:
    rules: Mode | None = None  # of declared rules; None: the tenant's
    detectors: Mode | None = None
    llm: Mode | None = None
    relax: float = 1.0  # how many times its baseline's interval a calm endpoint may be slowed to
    extra_runs: float = 0.25  # that detectors may add in a day, as a share of the baseline's runs
    # A planner's. None: the endpoint's max, or a day where it has none; zero: no pauses at all.
    max_pause: timedelta | None = None
    min_gap: timedelta = timedelta(minutes=5)  # between two looks of a model at an endpoint
    model: str | None = None  # None: the installation's
    prompt: str | None = None  # an addition to the prompt
    tokens_per_day: int | None = None
    money_per_day: float | None = None
    tokens_per_session: int | None = None
    account: str | None = None  # that pays for the model's sessions, by name

    def modes(self, tenant: Modes) -> Modes:
        """What each may do: as the job says, else as its tenant does."""
        return Modes(
            self.rules or tenant.rules, self.llm or tenant.llm, self.detectors or tenant.detectors
        )

    def all_in(self, mode: Mode | None) -> "PlannerPolicy":
        return replace(self, rules=mode, detectors=mode, llm=mode)


USUAL = PlannerPolicy()


def policy_errors(policy: PlannerPolicy) -> Iterator[InvalidInput]:
    """What a schema of the documents cannot say; everything that is wrong."""
    gap, pause = policy.min_gap, policy.max_pause
    if not SHORTEST_GAP <= gap <= LONGEST_GAP:
        yield _out_of_range("min_gap", gap, "1m", "1d")
    if pause is not None and not timedelta(0) <= pause <= LONGEST_PAUSE:
        yield _out_of_range("max_pause", pause, "0", "30d")
    texts = {"model": policy.model, "prompt": policy.prompt, "account": policy.account}
    for field, text in texts.items():
        try:
            check_storable(f"planner.{field}", text or "")
        except InvalidInput as error:
            yield error


def account_errors(policy: PlannerPolicy, known: Collection[str]) -> Iterator[InvalidInput]:
    """Of the tenant's accounts only their names are known here."""
    if policy.account is not None and policy.account not in known:
        fix = "name an account of the tenant: `cadenza accounts list` shows those there are"
        if not known:
            fix = "there is none: create one with `cadenza accounts create`"
        yield InvalidInput("planner.account", policy.account, fix)


def _out_of_range(field: str, duration: timedelta, least: str, most: str) -> InvalidInput:
    return InvalidInput(f"planner.{field}", humanize(duration), f"from {least} to {most}")
