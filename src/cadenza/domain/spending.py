"""Spending: the runs that detectors may use above a job's baseline, and the price they make.

One purse per job, so that calm endpoints pay for troubled ones. Each endpoint keeps its own account
of what it spent, fading over two days; as fading is linear, the purse is the sum of the accounts,
and nobody has to write to a row that all share. A full purse makes looks cheap, an empty one makes
them unaffordable. Runs by people, declared rules and models are in no account.

Where all of a job may be relaxed, what is saved is kept until it is spent (but for little, so that
no rounding makes the job run more often than its baseline), and when the purse is full, calm
endpoints run at their baseline again. So such a job runs as often as its baseline says, at better
times.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, inf
from typing import NamedTuple

from cadenza.domain.hazard import DAY

REACH = 2 * DAY  # how long the purse remembers
KEPT = 60 * DAY  # the same where savings are kept
HANDFUL = 5.0  # runs: so that a burst always has something
FULL_PRICE = 1.5  # the price while nothing is spent
KEPT_PRICE = 1.0  # the same where savings are kept: what is calm runs at its baseline


class Account(NamedTuple):
    """What one endpoint spent above its baseline, and goes on spending until its hint ends.

    A relaxed endpoint spends less than nothing.
    """

    at: float
    spent: float = 0.0
    rate: float = 0.0  # runs a second above the baseline's
    until: float = 0.0

    def settled(self, now: float, reach: float = REACH) -> "Account":
        """The same, with all that has happened by now."""
        if now <= self.at:
            return self
        rate = self.rate if self.until > now else 0.0
        return Account(now, self._spent_by(now, reach), rate, self.until)

    def used(self, now: float, reach: float = REACH) -> float:
        """What is spent or promised; what is only going to be saved is no one's yet."""
        spent = self._spent_by(now, reach) if now > self.at else self.spent
        promised = self.rate * (self.until - now) if self.rate > 0 else 0.0
        return spent + promised if promised > 0 else spent

    def _spent_by(self, now: float, reach: float) -> float:
        ends_at = min(now, self.until)
        if not self.rate or ends_at <= self.at:
            return self.spent * exp((self.at - now) / reach)
        fades = exp((self.at - ends_at) / reach)
        spent = self.spent * fades + self.rate * reach * (1 - fades)
        return spent * exp((ends_at - now) / reach) if now > ends_at else spent

    def spending(self, rate: float, now: float, until: float, reach: float = REACH) -> "Account":
        """From now on at this rate; what was promised before and not used is given back."""
        return self.settled(now, reach)._replace(rate=rate, until=until)

    def with_runs(self, runs: float, now: float, reach: float = REACH) -> "Account":
        settled = self.settled(now, reach)
        return settled._replace(spent=settled.spent + runs)


class Share(NamedTuple):
    """One endpoint of a job, as its purse sees it."""

    account: Account | None  # None: it has spent nothing yet
    pace: float  # seconds between its baseline's runs
    can_relax: bool


@dataclass(frozen=True, slots=True)
class Purse:
    left: float  # runs
    size: float
    reach: float = REACH  # in which its accounts fade

    @property
    def used(self) -> float:
        """What is spent or promised; none where more was saved."""
        return max(0.0, self.size - self.left)

    @property
    def price(self) -> float:
        """In prices at which the baseline is right for what never fails; infinite when empty."""
        full_price = KEPT_PRICE if self.reach == KEPT else FULL_PRICE
        return full_price * self.size / self.left if self.left > 0 else inf


def purse_of(shares: Iterable[Share], now: float, extra_runs: float, relax: float) -> Purse:
    """The purse of a job. Each endpoint adds what it saves, where the owner lets it be relaxed (so
    that the job never runs more than its baseline), else its share of the extra runs."""
    shares = tuple(shares)
    keeps = relax > 1 and all(share.can_relax for share in shares)
    used = allowed = saved_at_most = 0.0
    reach = KEPT if keeps else REACH
    for account, pace, can_relax in shares:
        if relax > 1 and can_relax:
            saved_at_most += (1 - 1 / relax) * REACH / pace
        else:
            allowed += extra_runs * REACH / pace
        if account is not None:
            used += account.used(now, reach)
    if allowed > 0:
        allowed = max(allowed, HANDFUL)
    size = allowed + saved_at_most
    return Purse(min(size, allowed - used) if keeps else allowed - used, size, reach)
