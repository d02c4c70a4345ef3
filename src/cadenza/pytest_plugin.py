"""The fixture that pytest finds where Cadenza is installed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # loaded when a test asks for it
    from cadenza.testing import Simulation


@pytest.fixture
def simulate() -> "Iterator[Callable[..., Simulation]]":
    """Start a program in simulated time; it ends with the test."""
    from cadenza.testing import Simulation  # noqa: PLC0415

    with ExitStack() as lives:
        yield lambda *about, **more: lives.enter_context(Simulation(*about, **more))
