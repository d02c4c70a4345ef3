"""What the rules brain remembers of an endpoint between looks: small, and kept with its analysis.

Two planners, or one that was restarted, go on from the same. Times are epoch seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cadenza.domain.analysis import Response
from cadenza.domain.hazard import MEMORIES, Outages
from cadenza.domain.run import RunStatus
from cadenza.domain.spending import Account
from cadenza.domain.value import replace

_CANCELLED = RunStatus.CANCELLED  # says nothing about the target
_WELL = RunStatus.SUCCESS


@dataclass(frozen=True, slots=True)
class Memory:
    outages: Outages
    account: Account
    seen_at: float = 0.0  # the slot of the newest answer that is counted
    down_since: float | None = None
    failed_at: float | None = None  # when it last failed
    settled_until: float = 0.0  # until then what was decided stands, unless its state changes

    def after(self, recent: Sequence[Response]) -> "Memory":
        """With the answers that are new, newest first as they come."""
        new = list[Response]()
        for response in recent:
            if response.slot_at.timestamp() <= self.seen_at:
                break
            new.append(response)
        memory = self
        for response in reversed(new):
            memory = memory._after_one(response)
        return memory

    def _after_one(self, response: Response) -> "Memory":
        at = response.slot_at.timestamp()
        if response.status is _WELL:
            if self.down_since is None:
                return replace(self, seen_at=at)
            return replace(self, seen_at=at, down_since=None, settled_until=at)
        if response.status is _CANCELLED:
            return replace(self, seen_at=at)
        if self.down_since is not None:
            return replace(self, seen_at=at, failed_at=at)
        outages = self.outages.with_one_more(at)
        return replace(
            self, outages=outages, seen_at=at, down_since=at, failed_at=at, settled_until=at
        )

    def as_json(self) -> dict[str, Any]:
        outages, account = self.outages, self.account
        return {
            "outages": [outages.known_since, outages.counted_at, *outages.counts],
            "account": [account.at, account.spent, account.rate, account.until],
            "seen_at": self.seen_at,
            "down_since": self.down_since,
            "failed_at": self.failed_at,
            "settled_until": self.settled_until,
        }


def memory_of(stored: Mapping[str, Any] | None, created_at: float) -> Memory:
    """What was stored; a new one where there is nothing, or something of another version."""
    try:
        if stored:
            known_since, counted_at, *counts = map(float, stored["outages"])
            if len(counts) == len(MEMORIES):
                return Memory(
                    Outages(known_since, counted_at, tuple(counts)),
                    Account(*map(float, stored["account"])),
                    float(stored["seen_at"]),
                    stored["down_since"],
                    stored["failed_at"],
                    float(stored["settled_until"]),
                )
    except (KeyError, TypeError, ValueError):
        pass
    return Memory(Outages(created_at, created_at), Account(created_at))


def account_of(stored: Mapping[str, Any] | None) -> Account | None:
    """A sibling's account alone: every look with a finding asks for all of them."""
    try:
        return Account._make(stored["account"]) if stored else None
    except (KeyError, TypeError):
        return None
