"""Seal every secret with a new master key, and report which keys are still needed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cadenza.application.ports.sealed_values import MasterKeyIds, Resealed, SealedValues

Progress = Callable[[int, int], None]  # values done, and all


@dataclass(frozen=True, slots=True)
class Secrets:
    values: SealedValues
    keys: MasterKeyIds
    add_key: Callable[[], object] | None  # None where the admin makes the keys of a setting


@dataclass(frozen=True, slots=True)
class Holdings:
    """The master keys at hand, and how many values need each."""

    where: str
    ids: Sequence[str]
    counts: dict[str, int]

    @property
    def missing(self) -> dict[str, int]:
        return {key: count for key, count in self.counts.items() if key not in self.ids}

    @property
    def removable(self) -> list[str]:
        return [key for key in self.ids[1:] if not self.counts.get(key)]


@dataclass(frozen=True, slots=True)
class Rotated:
    holdings: Holdings
    done: Resealed
    made_key: bool
    makes_keys: bool

    @property
    def complete(self) -> bool:
        return not self.done.held and not self.done.unreadable and not self.holdings.missing


async def holdings(secrets: Secrets) -> Holdings:
    counts = await secrets.values.count_by_key()
    return Holdings(secrets.keys.where, secrets.keys.ids, counts)


async def rotate_secrets(
    secrets: Secrets, on_progress: Progress = lambda _done, _all: None
) -> Rotated:
    """Finish an earlier rotation; where there is none to finish, begin one with a new key.

    Keys that come from a setting are made by the admin: the first one is used as it is.
    """
    async with secrets.values.rotating():
        made_key = False
        done = await _reseal(secrets, on_progress)
        if not done.values and not done.held and secrets.add_key is not None:
            secrets.add_key()
            made_key = True
            done = await _reseal(secrets, on_progress)
        return Rotated(await holdings(secrets), done, made_key, secrets.add_key is not None)


async def _reseal(secrets: Secrets, on_progress: Progress) -> Resealed:
    counts = await secrets.values.count_by_key()
    total = sum(counts.values()) - counts.get(secrets.keys.ids[0], 0)
    return await secrets.values.reseal(lambda done: on_progress(done, total))
