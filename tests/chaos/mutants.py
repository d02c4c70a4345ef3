"""Mutants of our own code. Each breaks one thing that the promises rest on, and is caught.

They are installed by patching a function or the text of a statement, in the harness only.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    name: str
    about: str
    install: Callable[[], None]
    needs: str = "simulation"  # or the fault that brings it out, in real programs


MUTANTS: dict[str, Mutant] = {}
