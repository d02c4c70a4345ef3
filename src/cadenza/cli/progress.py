"""One line on a terminal that says how far a long command is; nothing elsewhere."""

import re
import sys
import time
from types import TracebackType

TABLE = re.compile(r'(?:dumping contents of|processing data for) table "?(?:public\.)?([\w]+)')
EVERY = 0.1  # seconds


class TableProgress:
    """From what PostgreSQL's programs say as they go."""

    def __init__(self, what: str, *, show: bool) -> None:
        self._what = what
        self._show = show and sys.stderr.isatty()
        self._count = 0
        self._shown_at = 0.0

    def heard(self, line: str) -> None:
        match = TABLE.search(line)
        if match is None:
            return
        self._count += 1
        if self._show and time.monotonic() - self._shown_at > EVERY:
            self._shown_at = time.monotonic()
            sys.stderr.write(f"\r\033[K{self._what} {self._count}: {match[1]}")
            sys.stderr.flush()

    def __enter__(self) -> "TableProgress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._show and self._count:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
