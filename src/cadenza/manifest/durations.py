"""Durations as people write them: `5m`, `1h30m`, `90s`, or a number of milliseconds."""

import re
from datetime import timedelta

_UNITS = {
    "w": timedelta(weeks=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}
_PART = re.compile(r"([0-9]{1,12})(ms|[wdhms])")
_WHOLE = re.compile(r"(?:[0-9]{1,12}(?:ms|[wdhms]))+")
_NO_UNIT = re.compile(r"[1-9][0-9]{0,11}")
_ZERO = re.compile(r"0+(?:ms|[wdhms])?")
_MAX_LENGTH = 40
_MAX_MS = 1000 * 366 * 86_400_000  # far beyond every limit, and within what timedelta can hold
EXPECTED = 'write "5m", "1h30m", "90s" or "250ms", or a whole number of milliseconds'


def parse_duration(written: int | str) -> timedelta:
    """ValueError with the fix where it cannot be read."""
    if isinstance(written, int):
        if not 0 < written <= _MAX_MS:
            raise ValueError(f"it must be above 0 and not absurdly long: {EXPECTED}")
        return timedelta(milliseconds=written)
    text = written.strip().lower()
    if _NO_UNIT.fullmatch(text):
        raise ValueError(f'it has no unit: write "{text}m" for minutes, or "{text}s" for seconds')
    if len(text) > _MAX_LENGTH or not text.isascii() or _WHOLE.fullmatch(text) is None:
        raise ValueError(EXPECTED)
    counts = [(int(count), _UNITS[unit]) for count, unit in _PART.findall(text)]
    sizes = [size for _, size in counts]
    if sizes != sorted(set(sizes), reverse=True):
        raise ValueError(f"each unit once, the largest first: {EXPECTED}")
    return parse_duration(sum(count * (size // _UNITS["ms"]) for count, size in counts))


def is_zero(written: object) -> bool:
    """Whether it is a duration of nothing: 0, "0", "0s" …; no other duration may be that."""
    if isinstance(written, str):
        return _ZERO.fullmatch(written.strip().lower()) is not None
    return isinstance(written, int) and not isinstance(written, bool) and written == 0


def format_duration(duration: timedelta) -> str:
    """The shortest way to write it, exact to the millisecond."""
    text, left = "", duration
    for unit, size in _UNITS.items():
        if unit == "w" and left % size:
            continue  # 10 days are "10d", not "1w3d"
        count, left = divmod(left, size)
        text += f"{count}{unit}" if count else ""
    return text or "0ms"
