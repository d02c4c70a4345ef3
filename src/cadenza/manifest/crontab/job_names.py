"""Names for jobs that had none: from what their commands do."""

import re
from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlsplit

_SAYS_NOTHING = re.compile(
    r"bash|cd|chronic|dash|env|exec|flock|ionice|nice|node|nohup|perl|php|python[23]?|ruby|sh|sudo"
    r"|test|time|timeout|true|[^A-Za-z]*"
)
_ASIDE = re.compile(r"\bcd\s+\S+|\s-u\s+\S+|\[\s[^\]]*\]|\btest\s[^;&|]*")  # says not what is done
_TASK = re.compile(r"[A-Za-z][\w:-]*")
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
    """What it does: `backup` of `cd /srv && ./backup.sh --all`, `manage-clearsessions` of
    `python manage.py clearsessions`."""
    words = re.findall(r"[^\s;&|()'\"<>]+", _ASIDE.sub("", command))
    for index, word in enumerate(words):
        name = word.rpartition("/")[2].partition(".")[0]
        says_something = not word.startswith(("-", "$", "[")) and "=" not in word
        if says_something and not _SAYS_NOTHING.fullmatch(name):
            return f"{name}-{_task(words[index + 1 :])}".strip("-")
    return "job"


def _task(arguments: Sequence[str]) -> str:
    """Of `certbot renew -q` it is `renew`; a path or an option is none."""
    if arguments and _TASK.fullmatch(arguments[0]):
        return arguments[0]
    return ""
