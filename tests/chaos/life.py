"""A life in simulation, as data: endpoints, workers, and what happens to them when.

Everything is drawn from a seed, so that a life can be lived again; and it is a list of acts, so
that one that goes wrong can be lived again without most of them.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from cadenza.adapters.simulated.chance import SeededChance

START = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # no zone below changes its offset in that week
CRONS = ("* * * * *", "*/2 * * * *", "1-59/3 * * * *", "*/5 12,13 * * *", "0,30 * * * *")
ZONES = ("UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe")
# How targets answer. A plain endpoint is only ever answered well.
WELL, WAYS = ("quick", "slow"), ("fails", "flaps", "hangs", "drips", "lies", "asks to wait")
STORE_FAULTS = ("fails", "loses answers", "is slow", "is silent")
ACTS = (
    *("crash", "crash", "stop", "restart", "clock", "wakes doubled", "wakes lost"),
    *("hint", "hint", "one-shot", "pause", "resume", "run now", "clear"),
    *STORE_FAULTS,
)


@dataclass(frozen=True, slots=True)
class Probe:
    every: float | None
    cron: str | None
    timezone: str
    way: str
    plain: bool
    tenant: int

    @property
    def is_well(self) -> bool:
        return self.way in WELL


@dataclass(frozen=True, slots=True)
class Act:
    at: float
    kind: str
    worker: int  # or -1 for all
    endpoint: int
    length: float
    amount: float  # of what it is about, from 0 to 1


@dataclass(frozen=True, slots=True)
class Life:
    seed: int
    seconds: float
    workers: int
    lease: float
    probes: tuple[Probe, ...]
    acts: tuple[Act, ...]

    def without(self, act: Act) -> "Life":
        return replace(self, acts=tuple(each for each in self.acts if each is not act))


def drawn(seed: int, seconds: float = 40, *, faults: bool = True) -> Life:
    chance = SeededChance(seed)
    workers = 1 + int(chance.between(0, 3, "workers"))
    probes = tuple(_probe(chance, number) for number in range(12))
    count = int(seconds / 5) if faults else 0
    acts = (_act(chance, number, seconds, workers) for number in range(count))
    ordered = tuple(sorted(acts, key=lambda act: act.at))
    return Life(seed, seconds, workers, 6.0, probes, ordered)


def _probe(chance: SeededChance, number: int) -> Probe:
    plain = number < 8
    is_cron = number % 8 == 7
    ways = WELL if plain else WAYS
    return Probe(
        every=None if is_cron else round(chance.between(1, 3, "every", number), 1),
        cron=_one_of(CRONS, chance, "cron", number) if is_cron else None,
        timezone=_one_of(ZONES, chance, "zone", number),
        way=_one_of(ways, chance, "way", number),
        plain=plain,
        tenant=number % 3,
    )


def _act(chance: SeededChance, number: int, seconds: float, workers: int) -> Act:
    kind = _one_of(ACTS, chance, "act", number)
    everybody = chance.between(0, 1, "everybody", number) < 0.2
    return Act(
        at=chance.between(3, seconds * 0.8, "at", number),
        kind=kind,
        worker=-1 if everybody else int(chance.between(0, workers, "worker", number)),
        endpoint=8 + int(chance.between(0, 4, "endpoint", number)),  # one that is steered
        length=chance.between(0.2, 12, "length", number),
        amount=chance.between(0, 1, "amount", number),
    )


def _one_of(choices: tuple[str, ...], chance: SeededChance, *about: object) -> str:
    return choices[int(chance.between(0, len(choices), *about))]
