"""Declared rules: when something holds, for so many runs, then one action, for a while.

They are the owner's own will: they come before every detector, and no budget limits them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from uuid import UUID

MAX_RULES = 50
MAX_RUNS = 30
DEFAULT_TTL = timedelta(hours=1)
NAMES = ("response", "health", "endpoint", "siblings", "now")  # that an expression may use

SIBLINGS = re.compile(r"(?<![.\w])siblings\b")
_SELDOM_USED = frozenset(("health", "endpoint"))
_USED = re.compile(r"(?<![.\w])(health|endpoint)\b")
_RESPONSE = re.compile(r"(?<![.\w])response\b")
_NAMED_SIBLING = re.compile(
    r"""(?<![.\w])siblings\s*(?:\.\s*([A-Za-z_]\w*)\b(?!\s*\()|\[\s*(["'])([^"'\\]*)\2\s*\])"""
)

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def siblings_in(expression: str) -> list[str]:
    """The siblings that an expression names, as `siblings.name` or `siblings["name"]`."""
    return [dotted or quoted for dotted, _, quoted in _NAMED_SIBLING.findall(expression)]


def naming(rules: Sequence["Rule"], endpoint: str) -> tuple["Rule", ...]:
    """Those that name an endpoint of their job."""
    return tuple(rule for rule in rules if endpoint in names_in(rule))


def names_in(rule: "Rule") -> list[str]:
    """The endpoints that a rule names, each once."""
    own = (name for name in (rule.endpoint, rule.then.endpoint) if name is not None)
    expressions = (*siblings_in(rule.when), *siblings_in(rule.then.at or ""))
    return list(dict.fromkeys((*own, *expressions)))


def with_renamed(rule: "Rule", before: str, after: str) -> "Rule":
    """The same rule, after an endpoint that it may name has got another name."""
    at = rule.then.at
    then = replace(
        rule.then,
        endpoint=after if rule.then.endpoint == before else rule.then.endpoint,
        at=None if at is None else _with_renamed_sibling(at, before, after),
    )
    return replace(
        rule,
        endpoint=after if rule.endpoint == before else rule.endpoint,
        when=_with_renamed_sibling(rule.when, before, after),
        then=then,
    )


def can_be_quoted(name: str) -> bool:
    """Whether an expression can name it: `siblings["name"]` knows no escapes."""
    return not set(name) & set("\"'\\")


def _with_renamed_sibling(expression: str, before: str, after: str) -> str:
    def renamed(match: re.Match[str]) -> str:
        dotted, _, quoted = match.groups()
        if (dotted or quoted) != before:
            return match[0]
        return f"siblings.{after}" if _PLAIN_NAME.fullmatch(after) else f'siblings["{after}"]'

    return _NAMED_SIBLING.sub(renamed, expression)


@lru_cache(maxsize=10_000)
def is_about_siblings(when: str) -> bool:
    """Whether it uses siblings but not the endpoint's own response: it is then judged when a
    sibling has answered, too."""
    return bool(SIBLINGS.search(when)) and not _RESPONSE.search(when)


class Mode(StrEnum):
    OFF = "off"
    ADVISE = "advise"  # it says what it would do; a person accepts
    ACT = "act"


@dataclass(frozen=True, slots=True)
class Modes:
    """What each may do. A tenant's are for those of its jobs that have none of their own."""

    rules: Mode = Mode.ACT
    llm: Mode = Mode.ADVISE  # until its owner says otherwise
    detectors: Mode = Mode.ACT

    def lets(self, brain: str) -> bool:
        """Whether a brain has anything to do; that of the rules has the detectors, too."""
        modes = (self.llm,) if brain == "llm" else (self.rules, self.detectors)
        return any(mode is not Mode.OFF for mode in modes)


ALL_ACT = Modes(Mode.ACT, Mode.ACT, Mode.ACT)


class RuleAction(StrEnum):
    INTERVAL = "interval"
    RUN_NOW = "run_now"
    RUN_IN = "run_in"
    RUN_AT = "run_at"
    PAUSE = "pause"
    RESUME = "resume"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class Then:
    action: RuleAction
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
    # Set when it is stored, and unchanged by a rename. The same rule with another id is equal.
    id: UUID | None = field(default=None, compare=False)


def with_ids(
    rules: Sequence[Rule], stored: Sequence[Rule], new_id: Callable[[], UUID]
) -> tuple[Rule, ...]:
    """Each with the id of the stored rule of its name, else of one that was only renamed."""
    by_name = {rule.name: rule.id for rule in stored}
    names = {rule.name for rule in rules}
    renamed = {replace(rule, name=""): rule.id for rule in stored if rule.name not in names}
    return tuple(
        replace(
            rule,
            id=by_name.get(rule.name) or renamed.pop(replace(rule, name=""), None) or new_id(),
        )
        for rule in rules
    )


def left_out(rules: Iterable[Rule]) -> frozenset[str]:
    """Of `health` and `endpoint`, what none of the rules uses, so that it need not be computed."""
    return _SELDOM_USED.intersection(*(_left_out(rule.when, rule.then.at) for rule in rules))


@lru_cache(maxsize=10_000)
def _left_out(when: str, at: str | None) -> frozenset[str]:
    return _SELDOM_USED.difference(_USED.findall(f"{when} {at}"))
