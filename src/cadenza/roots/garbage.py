"""Garbage collection of a program that makes much garbage, and little of it in cycles."""

import gc


def collect_less_often() -> None:
    """At thousands of runs a second, looking for cycles took a sixth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
