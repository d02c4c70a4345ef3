"""What a child prints: read at a measured pace, and only its end is kept."""

import asyncio
import os

CHUNK = 64 * 1024
PAUSE = 0.005  # after a full read: a child that prints without end waits for us, not we for it
KEEP_BYTES = 4096
KEEP_LINES = 20


class LastLines:
    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._tail = b""
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        os.set_blocking(pipe, False)
        self._loop.add_reader(pipe, self._read)

    def close(self) -> str:
        """What is left in the pipe still counts; who else holds it open does not matter."""
        if self._pipe >= 0:
            self._loop.remove_reader(self._pipe)
            if self._pause is not None:
                self._pause.cancel()
            self._take()
            os.close(self._pipe)
            self._pipe = -1
        lines = self._tail.decode("utf-8", "replace").replace("\0", "\ufffd").splitlines()
        return "\n".join(lines[-KEEP_LINES:])

    def _read(self) -> None:
        size = self._take()
        if size == 0:
            self._loop.remove_reader(self._pipe)
        elif size == CHUNK:
            self._loop.remove_reader(self._pipe)
            self._pause = self._loop.call_later(PAUSE, self._go_on)

    def _go_on(self) -> None:
        self._loop.add_reader(self._pipe, self._read)

    def _take(self) -> int:
        try:
            data = os.read(self._pipe, CHUNK)
        except BlockingIOError:
            return 1
        except OSError:
            return 0
        self._tail = (self._tail + data)[-KEEP_BYTES:]
        return len(data)
