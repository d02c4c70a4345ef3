"""YAML and JSON into plain values with their places; nothing in a file can make code run.

Read from events, not by a loader: what would make a small file large (anchors), or mean something
else to another reader (tags, a key given twice), is refused with its place.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from cadenza.domain.errors import InvalidInput
from cadenza.domain.target import Secret
from cadenza.manifest.problems import Place, Problem
from cadenza.manifest.scalars import plain_value
from cadenza.manifest.yaml_advice import advice_on

MAX_DEPTH = 40
_OTHER_BREAKS = re.compile(
    "[\x85\u2028\u2029]"
)  # line ends in YAML 1.1, letters in 1.2 and in JSON
_WRITE_ESCAPED = r'write it in double quotes, like "\u2028"'
MAX_VALUES = 300_000
MAX_PROBLEMS = 1000  # in a file that has more, something else is wrong
_PAIR = re.compile(
    r"(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
# libyaml reads twenty times faster than Python; where it is not built in, Python will do.
_events: Any = yaml.parse  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Tree:
    """What a file says; places are kept by path, like `jobs[0].endpoints[2].url`."""

    file: str
    value: Any = None
    problems: list[Problem] = field(default_factory=list[Problem])
    keys: dict[str, Place] = field(default_factory=dict[str, Place])
    values: dict[str, Place] = field(default_factory=dict[str, Place])
    broken: set[str] = field(default_factory=set[str])  # paths that were told of already

    def place_of(self, path: str, *, of_key: bool = False) -> Place:
        """The place of a field, or of the nearest thing around it that was written."""
        places = self.keys if of_key else self.values
        for each in _upwards(path):
            if place := places.get(each) or places.get(f"{each}_ms"):
                return place
        return self.values.get("", Place(self.file, 1, 1))

    def is_broken(self, path: str) -> bool:
        return any(each in self.broken for each in _upwards(path))


def _upwards(path: str) -> Iterator[str]:
    """`a[0].b`, `a[0]`, `a`."""
    while path:
        yield path
        path = path[: max(path.rfind("."), path.rfind("["), 0)]


class _Hopeless(Exception):
    """Reading cannot go on."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


def read_tree(file: str, text: str, loader: Any = _LOADER) -> Tree:
    tree = Tree(file)
    if (strange := _OTHER_BREAKS.search(text)) is not None:
        what = f"U+{ord(strange[0]):04X} ends a line to some and not to others: {_WRITE_ESCAPED}"
        tree.problems.append(Problem(Place.behind(file, text[: strange.start()]), "", what))
        return tree
    try:
        events = cast("Iterator[Event]", _events(_without_pairs(text), Loader=loader))
        _Reader(tree, events).read()
    except _Hopeless as error:
        tree.problems.append(error.problem)
    except yaml.YAMLError as error:
        line, column, message = advice_on(error, text)
        tree.problems.append(Problem(Place(file, line, column), "", message))
    return tree


def _without_pairs(text: str) -> str:
    """JSON writes what is beyond 16 bits as two escapes, which YAML does not know."""
    if not text.lstrip().startswith(("{", "[")) or _PAIR.search(text) is None:
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _PAIR.sub(lambda found: found[1] + json.loads(f'"{found[2]}"'), text)


class _Reader:
    def __init__(self, tree: Tree, events: Iterator[Event]) -> None:
        self._tree = tree
        self._events = events
        self._count = 0

    def read(self) -> None:
        while not isinstance(event := next(self._events), StreamEndEvent):
            if isinstance(event, StreamStartEvent | DocumentEndEvent):
                continue
            if isinstance(event, DocumentStartEvent):
                if self._count:
                    raise _Hopeless(
                        self._problem(event, "", "a second document: put it into its own file")
                    )
                continue
            self._tree.value = self._value(event, "", 0)

    def _value(self, event: Event, path: str, depth: int) -> Any:
        self._tree.values[path] = self._place(event)
        self._count += 1
        if depth > MAX_DEPTH:
            raise _Hopeless(self._problem(event, path, f"nested deeper than {MAX_DEPTH} levels"))
        if self._count > MAX_VALUES:
            raise _Hopeless(self._problem(event, path, f"more than {MAX_VALUES:,} values"))
        self._refuse_tricks(event, path)
        if isinstance(event, SequenceStartEvent):
            return self._list(path, depth)
        if isinstance(event, MappingStartEvent):
            return self._object(path, depth)
        return self._scalar(event, path) if isinstance(event, ScalarEvent) else None

    def _refuse_tricks(self, event: Event, path: str) -> None:
        if isinstance(event, AliasEvent):
            fix = (
                f'an alias (*{event.anchor}): write it out, or put it in quotes: "*{event.anchor}"'
            )
            self._tell(event, path, fix)
        elif (anchor := getattr(event, "anchor", None)) is not None:
            fix = f"an anchor (&{anchor}): leave it out, or put the text in quotes"
            self._tell(event, path, fix)
        elif (tag := getattr(event, "tag", None)) is not None:
            self._tell(event, path, f"a tag ({tag}): leave it out; text goes in quotes")

    def _list(self, path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            found.append(self._value(event, f"{path}[{len(found)}]", depth + 1))
        return found

    def _object(self, path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            name = self._key(event, path, depth)
            inner = (f"{path}.{name}" if path else name) if name is not None else f"{path}.?"
            first = self._tree.keys.get(inner) if name in found else None
            self._tree.keys.setdefault(inner, self._place(event))
            value = self._value(next(self._events), inner, depth + 1)
            if first is not None:
                fix = f"given twice; the first is in line {first.line}: leave one out"
                self._tell(event, inner, fix)
            elif name is not None:
                found[name] = value
        return found

    def _key(self, event: Event, path: str, depth: int) -> str | None:
        """None where it is no name; the rest of the object is read all the same."""
        self._refuse_tricks(event, f"{path}.?")
        if isinstance(event, ScalarEvent):
            value = self._scalar(event, f"{path}.?")
            if isinstance(value, str):
                return value
            what = f"the name {event.value[:80]!r} is not text: put it in quotes"
            self._tell(event, path, what, breaks=False)
        elif not isinstance(event, AliasEvent):
            self._value(event, f"{path}.?", depth + 1)
            self._tell(event, path, "a name cannot be a list or an object", breaks=False)
        return None

    def _scalar(self, event: ScalarEvent, path: str) -> Any:
        if not event.implicit[0]:  # in quotes, or a block
            return event.value
        try:
            return plain_value(event.value)
        except ValueError as error:
            shown = Secret("") if "secret" in path.lower() else event.value
            invalid = InvalidInput(path, shown, str(error))
            self._tell(event, path, str(invalid).removeprefix(f"{path}: "))
            return None

    # --- Problems ---------------------------------------------------------------------------

    def _tell(self, event: Event, path: str, what: str, *, breaks: bool = True) -> None:
        if breaks:
            self._tree.broken.add(path)
        self._tree.problems.append(self._problem(event, path, what))
        if len(self._tree.problems) >= MAX_PROBLEMS:
            raise _Hopeless(self._problem(event, path, "too many problems; mend these first"))

    def _problem(self, event: Event, path: str, what: str) -> Problem:
        return Problem(self._place(event), path, f"{path}: {what}" if path else what)

    def _place(self, event: Event) -> Place:
        mark: Any = event.start_mark
        return Place(self._tree.file, mark.line + 1, mark.column + 1)
