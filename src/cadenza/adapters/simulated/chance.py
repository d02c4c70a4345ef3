"""Chance that a seed decides: the same seed gives the same draws, on every machine."""

from hashlib import blake2b
from uuid import UUID


class SeededChance:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._drawn = 0

    def new_id(self) -> UUID:
        self._drawn += 1
        return UUID(bytes=self._digest(f"draw {self._drawn}"), version=4)

    def id_of(self, name: str) -> UUID:
        """The same id for the same name, however many others were drawn before."""
        return UUID(bytes=self._digest(f"name {name}"), version=4)

    def between(self, lowest: float, highest: float, *about: object) -> float:
        """A number that depends on the seed and on what it is about, and on nothing else."""
        digest = self._digest(f"number {about}")
        return lowest + (highest - lowest) * int.from_bytes(digest[:6]) / 2**48

    def _digest(self, text: str) -> bytes:
        return blake2b(f"{self._seed} {text}".encode(), digest_size=16).digest()
