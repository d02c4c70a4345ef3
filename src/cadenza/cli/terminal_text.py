"""What a server says, made harmless for a terminal: nothing in it can move the cursor or hide."""

import json
import re
import shlex
from typing import Any

# Control characters of both kinds, halves of characters, and those that turn or hide text.
_DANGEROUS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_LONGEST = 2000


def plain(value: object) -> str:
    """On one line; what could do something is shown as an escape."""
    text = value if isinstance(value, str) else str(value)
    return _DANGEROUS.sub(_escaped, text)


def plain_lines(text: str) -> str:
    """The same, with its lines kept."""
    return "\n".join(map(plain, text.replace("\t", "    ").split("\n")))


def quoted(name: str) -> str:
    """As it can be quoted in a shell."""
    return shlex.quote(plain(name))


def shortened(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def text_of(value: Any) -> str:
    """A text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json_text(value)


def json_text(value: Any) -> str:
    """JSON that reads back as the same value, and is as harmless."""
    return _DANGEROUS.sub(_json, json.dumps(value, ensure_ascii=False))


def _escaped(match: "re.Match[str]") -> str:
    code = ord(match[0])
    if code < 0x100:
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(match[0], f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json(match: "re.Match[str]") -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def counted(count: int, one: str) -> str:
    return f"{count:,} {one}{'' if count == 1 else 's'}"
