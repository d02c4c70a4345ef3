"""Names for jobs that had none: from what they run."""

import re
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

_SAYS_NOTHING = re.compile(
    r"bash|cd|chronic|dash|env|exec|flock|ionice|nice|node|nohup|perl|php|python[23]?|ruby|sh|sudo"
    r"|test|time|timeout|true|[^A-Za-z]*"
)
_LONGEST = 60


def name_for(document: dict[str, Any], command: str, taken: Collection[str]) -> str:
    plain = _of_command(command)
    if "url" in document:
        address = urlsplit(str(document["url"]))
        plain = f"{address.hostname or ''}-{address.path.rstrip('/').rpartition('/')[2]}"
    name = re.sub(r"[^a-z0-9.]+", "-", plain.lower()).strip("-.")[:_LONGEST].strip("-.") or "job"
    if name not in taken:
        return name
    return next(free for n in range(2, 1_000_000) if (free := f"{name}-{n}") not in taken)


def _of_command(command: str) -> str:
    """The first word that says something: `backup` of `cd /srv && ./backup.sh --all`."""
    for word in re.findall(r"[^\s;&|()'\"<>]+", re.sub(r"\bcd\s+\S+|\s-u\s+\S+", "", command)):
        name = word.rpartition("/")[2].partition(".")[0]
        says_something = not word.startswith(("-", "$", "[")) and "=" not in word
        if says_something and not _SAYS_NOTHING.fullmatch(name):
            return name
    return "job"
