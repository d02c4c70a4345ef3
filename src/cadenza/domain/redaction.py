"""Redaction: secrets that a target sends back are masked, in every spelling that it may use.

It masks a secret as it is, its credential without the scheme (`Bearer …`, `Basic …`), and both as
base64 (also in the middle of a longer base64 text), percent-encoded, or escaped for JSON and HTML.
"""

import base64
import html
import json
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import product
from typing import Any, TypeVar, cast
from urllib.parse import quote, quote_plus

from cadenza.domain.target import Secret

MASK = "***"
SHORT = 4  # below this, only whole words: nobody wants every "1" of a body masked
LEAST_IN_BASE64 = 8
LEAST_CUT_OFF = 8

T = TypeVar("T")


def redacted(value: T, secrets: Collection[Secret]) -> T:
    """The same text or JSON value without these secrets; a number that is one becomes the mask."""
    values = frozenset(secret.value for secret in secrets if secret.value.strip())
    return cast("T", _spellings_of(values).masked(value)) if values else value


class _Spellings:
    """Every form of some secrets, to be looked for in one text after another."""

    def __init__(self, values: frozenset[str]) -> None:
        plain = {form for value in values for form in _credentials(value)}
        self._words = tuple(sorted(form for form in plain if len(form) < SHORT))
        self._plain = tuple(sorted(form for form in plain if len(form) >= SHORT))
        self._forms = tuple(sorted({form for value in self._plain for form in _forms(value)}))
        self._shortest = min(map(len, (*self._words, *self._forms)))
        self._numbers = any(_is_number(form) for form in plain)

    def masked(self, value: Any) -> Any:
        """Without recursion: a body may be nested more deeply than Python can recurse."""
        out: list[Any] = [None]
        waiting: list[tuple[Any, Any, Any]] = [(out, 0, value)]
        while waiting:
            holder, key, original = waiting.pop()
            if isinstance(original, dict):
                holder[key] = fields = dict[Any, Any]()
                for field, inner in cast("dict[Any, Any]", original).items():
                    name = self._leaf(field)
                    fields[name] = None  # keeps the order, which the stack reverses
                    waiting.append((fields, name, inner))
            elif isinstance(original, list):
                elements = cast("list[Any]", original)
                holder[key] = masked = [None] * len(elements)
                waiting.extend((masked, index, inner) for index, inner in enumerate(elements))
            else:
                holder[key] = self._leaf(original)
        return out[0]

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if self._numbers and isinstance(value, int | float) and not isinstance(value, bool):
            text = json.dumps(value)
            return value if self._text(text) == text else MASK
        return value

    def _text(self, text: str) -> str:
        spans = sorted(self._spans(text)) if len(text) >= self._shortest else ()
        if not spans:
            return text
        pieces: list[str] = []
        end = 0
        for begins, ends in spans:
            if begins > end or not pieces:  # overlapping spans are one mask
                pieces += [text[end:begins], MASK]
            end = max(end, ends)
        return "".join([*pieces, text[end:]])

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for form in self._forms:
            yield from _occurrences(text, form)
        for word in self._words:
            for begins, ends in _occurrences(text, word):
                if _is_word(text, begins, ends):
                    yield begins, ends
        for form in self._plain:
            yield from _cut_off(text, form)


_spellings_of = lru_cache(maxsize=1000)(_Spellings)


def _occurrences(text: str, form: str, start: int = 0) -> Iterator[tuple[int, int]]:
    begins = text.find(form, start)
    while begins >= 0:
        yield begins, begins + len(form)
        begins = text.find(form, begins + 1)


def _cut_off(text: str, form: str) -> Iterator[tuple[int, int]]:
    """The text may have been cut in the middle of a secret, so that it ends with its beginning."""
    if len(form) < LEAST_CUT_OFF:
        return
    for begins, _ in _occurrences(text, form[:LEAST_CUT_OFF], max(0, len(text) - len(form) + 1)):
        if form.startswith(text[begins:]):
            yield begins, len(text)
            return


def _is_word(text: str, begins: int, ends: int) -> bool:
    before, after = text[begins - 1 : begins], text[ends : ends + 1]
    return not (before.isalnum() or after.isalnum())


def _credentials(value: str) -> Iterator[str]:
    """The value, and the parts of it that are a secret by themselves."""
    yield value.strip()
    scheme, _, credential = value.strip().partition(" ")
    if not credential.strip() or not scheme.isalpha():
        return
    yield credential.strip()
    if scheme.lower() == "basic":
        try:
            decoded = base64.b64decode(credential, validate=True).decode()
        except ValueError:
            return
        yield from (part for part in (decoded, decoded.partition(":")[2]) if part)


def _forms(plain: str) -> Iterator[str]:
    yield plain
    yield html.escape(plain)
    for only_ascii in (True, False):
        escaped = json.dumps(plain, ensure_ascii=only_ascii)[1:-1]
        yield escaped
        yield json.dumps(escaped)[1:-1]  # JSON as a text within JSON
    raw = plain.encode("utf-8", "surrogatepass")
    for encoded in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
        yield encoded
        yield _small_hex(encoded)
    for alphabet, shift in product((b"+/", b"-_"), range(3)):
        if shift == 0:
            yield base64.b64encode(raw, altchars=alphabet).decode().rstrip("=")
        yield from _in_base64(raw, alphabet, shift)


def _small_hex(encoded: str) -> str:
    first, *rest = encoded.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in rest)])


def _in_base64(raw: bytes, alphabet: bytes, shift: int) -> Iterator[str]:
    """The characters that do not depend on what comes before and after it."""
    encoded = base64.b64encode(bytes(shift) + raw, altchars=alphabet).decode()
    begins = -(-shift * 8 // 6)
    ends = (shift + len(raw)) * 8 // 6
    if ends - begins >= LEAST_IN_BASE64:
        yield encoded[begins:ends]


def _is_number(form: str) -> bool:
    try:
        float(form)
    except ValueError:
        return False
    return True
