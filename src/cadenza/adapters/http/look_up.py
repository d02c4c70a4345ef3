"""Looking up names with the system's resolver, which blocks: one thread for each look-up.

The threads are daemons and not a pool's: a name server that never answers delays neither the end
of the program nor, as long as there is room, other look-ups.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from threading import Thread

LookUp = Callable[[str], Awaitable[Sequence[str]]]

AT_ONCE = 256  # more than the requests that a worker has under way


class SystemLookUp:
    """The addresses of a name, in the order in which the system would try them; OSError if none."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._room = asyncio.Semaphore(at_once)

    async def __call__(self, name: str) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[str]] = loop.create_future()

        def look_up() -> None:
            result = _resolved(name)
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(self._deliver, answer, result)

        await self._room.acquire()
        try:
            Thread(target=look_up, name="look-up", daemon=True).start()
        except RuntimeError as error:  # no more threads
            self._room.release()
            raise OSError(None, "no room to look it up") from error
        return await answer

    def _deliver(
        self, answer: "asyncio.Future[Sequence[str]]", result: Sequence[str] | OSError
    ) -> None:
        self._room.release()  # only now: also a thread that nobody waits for takes up room
        if answer.done():
            return
        if isinstance(result, OSError):
            answer.set_exception(result)
        else:
            answer.set_result(result)


def _resolved(name: str) -> Sequence[str] | OSError:
    try:
        infos = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except OSError as error:
        return error
    except ValueError:  # a label that Python cannot encode
        return socket.gaierror(socket.EAI_NONAME, "not a host name")
    return list(dict.fromkeys(str(info[4][0]) for info in infos))
