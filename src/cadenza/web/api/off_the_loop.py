"""What takes long is done in a thread of its own, one after the other.

Threads share the interpreter with the loop: several at once would leave it a small part, and who
sends many large bodies would also hold up the short work that other threads do for reads.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_ONE = ThreadPoolExecutor(max_workers=1, thread_name_prefix="large-bodies")


async def off_the_loop(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    return await asyncio.get_running_loop().run_in_executor(_ONE, partial(work, *args, **kwargs))
