"""Declared rules: when something holds, for so many runs, then one act, for a while.

They are the owner's own will: they come before every detector, and no budget limits them.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

MAX_RULES = 50
MAX_RUNS = 30
DEFAULT_TTL = timedelta(hours=1)
# What an expression may speak of.
NAMES = ("response", "health", "endpoint", "siblings", "now")


class Mode(StrEnum):
    """What a planner may do with a job."""

    OFF = "off"
    ADVISE = "advise"  # it says what it would do; a person accepts
    ACT = "act"


@dataclass(frozen=True, slots=True)
class Modes:
    """What a tenant lets each kind of brain do with a job that says nothing of it."""

    rules: Mode = Mode.ACT
    llm: Mode = Mode.ADVISE  # until its owner says otherwise

    def of(self, brain: str) -> Mode:
        return self.llm if brain == "llm" else self.rules


class RuleAct(StrEnum):
    INTERVAL = "interval"
    RUN_NOW = "run_now"
    RUN_IN = "run_in"
    RUN_AT = "run_at"
    PAUSE = "pause"
    RESUME = "resume"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class Then:
    act: RuleAct
    duration: timedelta | None = None  # of an interval, a wait or a pause
    at: str | None = None  # an expression that gives the instant to run at
    endpoint: str | None = None  # a sibling; None: the endpoint that was looked at


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    when: str
    then: Then
    endpoint: str | None = None  # whose answers it reads; None: those of every endpoint of the job
    runs: int = 1  # how many in a row it must hold for
    ttl: timedelta = DEFAULT_TTL
    cooldown: timedelta = timedelta(0)
    reason: str = ""
