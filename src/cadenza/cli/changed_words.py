"""Two long texts that differ in a few words: only those words, with a little around them."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from cadenza.cli.terminal_text import plain, shortened

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_MOST_TOKENS = 4000  # comparing more takes long: then all between the first and last is one place
_CLOSE = 3  # characters between two changes that are shown as one place
_MARKS = len("[--] {++}")

_Span = tuple[int, int, int, int]  # of tokens: from and to in the old text, and in the new one


def changed_words(before: str, after: str, width: int) -> Iterator[str]:
    """A line for each place, like `…depth > [-300-] {+400+} && …`, no wider than `width`."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    for old_start, old_end, new_start, new_end in _places(old, new):
        removed, added = "".join(old[old_start:old_end]), "".join(new[new_start:new_end])
        words = _marked(plain(removed), plain(added), width)
        room = width - len(words)
        tail = plain("".join(old[old_end : old_end + room]))
        tail = shortened(tail, room // 2) if room > 1 else ""
        room -= len(tail)
        head = plain("".join(old[max(old_start - room, 0) : old_start]))
        head = head if len(head) <= room else f"…{head[len(head) - room + 1 :]}"
        yield f"{head}{words}{tail}"


def _places(old: Sequence[str], new: Sequence[str]) -> list[_Span]:
    places: list[_Span] = []
    for span in _spans(old, new):
        if places and len("".join(old[places[-1][1] : span[0]])) <= _CLOSE:
            places[-1] = (places[-1][0], span[1], places[-1][2], span[3])
        else:
            places.append(span)
    return places


def _spans(old: Sequence[str], new: Sequence[str]) -> Iterator[_Span]:
    """What differs; the common beginning and end are cut off before the rest is compared."""
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    old_end, new_end = len(old) - end, len(new) - end
    if old_end + new_end - 2 * start > _MOST_TOKENS:
        yield start, old_end, start, new_end
        return
    matcher = SequenceMatcher(None, old[start:old_end], new[start:new_end])
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if kind != "equal":
            yield start + old_from, start + old_to, start + new_from, start + new_to


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How long they begin with the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def _marked(removed: str, added: str, width: int) -> str:
    """Where they do not fit they are cut, and begin where they differ: they never look alike."""
    room = width - _MARKS
    if len(removed) + len(added) > room:
        same = _alike(removed, added)
        if same > 1:
            removed, added = f"…{removed[same:]}", f"…{added[same:]}"
        half = max(room // 2, room - min(len(removed), len(added)))
        removed, added = shortened(removed, half), shortened(added, half)
    return " ".join(
        text for text in (removed and f"[-{removed}-]", added and f"{{+{added}+}}") if text
    )
