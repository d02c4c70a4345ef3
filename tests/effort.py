"""How much work something is, whatever else the process and the machine have to do.

The suite's heap is large: a collection in the middle of a measurement takes a second.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import thread_time


@contextmanager
def at_most(seconds: float, clock: Callable[[], float] = thread_time) -> Iterator[None]:
    """Processor time of this thread; with `process_time`, of all of them."""
    collecting = gc.isenabled()
    gc.disable()
    began = clock()
    try:
        yield
        taken = clock() - began
    finally:
        if collecting:
            gc.enable()
    assert taken < seconds, f"{taken:.3f} s of work, where {seconds} s are the most"
