"""YAML and JSON into plain values with their source locations; nothing in a file can run code.

Read from events, not by a loader: what would make a small file large (anchors), or mean something
else to another reader (tags, a key given twice), is refused with its location.
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
from cadenza.manifest.problems import Problem, SourceLocation
from cadenza.manifest.yaml_scalars import plain_value

MAX_DEPTH = 40
MAX_VALUES = 300_000
MAX_PROBLEMS = 1000  # in a file that has more, something else is wrong
# Line ends in YAML 1.1, letters in 1.2 and in JSON.
_OTHER_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
# Tags are refused anyway, and libyaml compares each of these lines with all before it.
_TAG_DIRECTIVE = re.compile(r"(?:\A|(?<=[\r\n]))%TAG\b")
_SURROGATE_PAIR = re.compile(
    r"(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
# libyaml reads twenty times faster than Python; where it is not built in, Python will do.
_events: Any = yaml.parse  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_QUOTE = "put the text in quotes"
_ADVICE = {
    "\t": "indent with spaces, not with tabs",
    "*": 'text that begins with * goes in quotes, like "*/5 * * * *"',
    "&": _QUOTE,
    "!": _QUOTE,
    "@": 'text that begins with @ goes in quotes, like "@daily"',
    "`": _QUOTE,
    "%": _QUOTE,
}


@dataclass(slots=True)
class Tree:
    """The content of a file, with the location of each path, like `jobs[0].endpoints[2].url`."""

    file: str
    value: Any = None
    problems: list[Problem] = field(default_factory=list[Problem])
    keys: dict[str, SourceLocation] = field(default_factory=dict[str, SourceLocation])
    values: dict[str, SourceLocation] = field(default_factory=dict[str, SourceLocation])
    broken: set[str] = field(default_factory=set[str])  # paths that have a problem already

    def location_of(self, path: str, *, of_key: bool = False) -> SourceLocation:
        """Of a field, or of the nearest thing around it that was written."""
        locations = self.keys if of_key else self.values
        for outer in _upwards(path):
            if location := locations.get(outer) or locations.get(f"{outer}_ms"):
                return location
        return self.values.get("", SourceLocation(self.file, 1, 1))

    def is_broken(self, path: str) -> bool:
        return any(outer in self.broken for outer in _upwards(path))


def _upwards(path: str) -> Iterator[str]:
    """`a[0].b`, `a[0]`, `a`."""
    while path:
        yield path
        path = path[: max(path.rfind("."), path.rfind("["), 0)]


class _Stop(Exception):
    """Reading cannot go on."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


def read_tree(file: str, text: str, loader: Any = _LOADER) -> Tree:
    tree = Tree(file)
    if (line_end := _OTHER_LINE_ENDS.search(text)) is not None:
        location = SourceLocation.after(file, text[: line_end.start()])
        character = f"U+{ord(line_end[0]):04X} ends a line to some and not to others"
        fix = r'write it in double quotes, like "\u2028"'
        tree.problems.append(Problem(location, "", f"{character}: {fix}"))
        return tree
    if (directive := _TAG_DIRECTIVE.search(text)) is not None:
        location = SourceLocation.after(file, text[: directive.start()])
        fix = f"a line that begins with %TAG: leave it out; for text, {_QUOTE} and indent it"
        tree.problems.append(Problem(location, "", fix))
        return tree
    try:
        events = cast("Iterator[Event]", _events(_without_pairs(text), Loader=loader))
        _Reader(tree, events).read()
    except _Stop as stop:
        tree.problems.append(stop.problem)
    except yaml.YAMLError as error:
        tree.problems.append(_syntax_problem(file, text, error))
    return tree


def _without_pairs(text: str) -> str:
    """JSON writes what is beyond 16 bits as two escapes, which YAML does not know."""
    if not text.lstrip().startswith(("{", "[")) or _SURROGATE_PAIR.search(text) is None:
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _SURROGATE_PAIR.sub(lambda match: match[1] + json.loads(f'"{match[2]}"'), text)


def _syntax_problem(file: str, text: str, error: yaml.YAMLError) -> Problem:
    """What the parser says, with what to do about it."""
    mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    message = str(getattr(error, "problem", None) or error).partition("\n")[0]
    if mark is None:
        return Problem(SourceLocation(file, 1, 1), "", f"it cannot be read: {message}")
    lines, row, column = text.splitlines(), int(mark.line), int(mark.column)
    advice = _advice(lines[row] if row < len(lines) else "", column)
    location = SourceLocation(file, row + 1, column + 1)
    return Problem(location, "", f"it cannot be read: {message}: {advice}")


def _advice(line: str, column: int) -> str:
    for at in (column, column - 1):  # behind an * the parser points one further
        if 0 <= at < len(line) and line[at] in _ADVICE:
            return _ADVICE[line[at]]
    if line[column : column + 1] == ":":
        return "text that holds a colon and a space goes in quotes"
    return "check the indentation, the brackets and the quotes up to here"


class _Reader:
    def __init__(self, tree: Tree, events: Iterator[Event]) -> None:
        self._tree = tree
        self._events = events
        self._count = 0

    def read(self) -> None:
        while not isinstance(event := next(self._events), StreamEndEvent):
            if isinstance(event, DocumentStartEvent) and self._count:
                raise _Stop(self._problem(event, "", "a second document: put it into its own file"))
            if not isinstance(event, StreamStartEvent | DocumentStartEvent | DocumentEndEvent):
                self._tree.value = self._value(event, "", 0)

    def _value(self, event: Event, path: str, depth: int) -> Any:
        self._tree.values[path] = self._location(event)
        self._count += 1
        if depth > MAX_DEPTH:
            raise _Stop(self._problem(event, path, f"nested deeper than {MAX_DEPTH} levels"))
        if self._count > MAX_VALUES:
            raise _Stop(self._problem(event, path, f"more than {MAX_VALUES:,} values"))
        self._refuse_tricks(event, path)
        if isinstance(event, SequenceStartEvent):
            return self._list(path, depth)
        if isinstance(event, MappingStartEvent):
            return self._object(path, depth)
        return self._scalar(event, path) if isinstance(event, ScalarEvent) else None

    def _refuse_tricks(self, event: Event, path: str) -> None:
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if isinstance(event, AliasEvent):
            fix = f'an alias (*{anchor}): write it out, or put it in quotes: "*{anchor}"'
            self._add(event, path, fix)
        elif anchor is not None:
            self._add(event, path, f"an anchor (&{anchor}): leave it out, or {_QUOTE}")
        elif tag is not None:
            self._add(event, path, f"a tag ({tag}): leave it out; text goes in quotes")

    def _list(self, path: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            items.append(self._value(event, f"{path}[{len(items)}]", depth + 1))
        return items

    def _object(self, path: str, depth: int) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            name = self._key(event, path, depth)
            inner = (f"{path}.{name}" if path else name) if name is not None else f"{path}.?"
            first = self._tree.keys.get(inner) if name in fields else None
            self._tree.keys.setdefault(inner, self._location(event))
            value = self._value(next(self._events), inner, depth + 1)
            if first is not None:
                fix = f"given twice; the first is in line {first.line}: leave one out"
                self._add(event, inner, fix)
            elif name is not None:
                fields[name] = value
        return fields

    def _key(self, event: Event, path: str, depth: int) -> str | None:
        """None where it is no name; the rest of the object is read all the same."""
        self._refuse_tricks(event, f"{path}.?")
        if isinstance(event, ScalarEvent):
            value = self._scalar(event, f"{path}.?")
            if isinstance(value, str):
                return value
            fix = f"the name {event.value[:80]!r} is not text: put it in quotes"
            self._add(event, path, fix, breaks=False)
        elif not isinstance(event, AliasEvent):
            self._value(event, f"{path}.?", depth + 1)
            self._add(event, path, "a name cannot be a list or an object", breaks=False)
        return None

    def _scalar(self, event: ScalarEvent, path: str) -> Any:
        if not event.implicit[0]:  # in quotes, or a block
            return event.value
        try:
            return plain_value(event.value)
        except ValueError as error:
            invalid = InvalidInput(path, event.value, str(error))
            self._add(event, path, str(invalid).removeprefix(f"{path}: "))
            return None

    # --- Problems ---------------------------------------------------------------------------

    def _add(self, event: Event, path: str, text: str, *, breaks: bool = True) -> None:
        if breaks:
            self._tree.broken.add(path)
        self._tree.problems.append(self._problem(event, path, text))
        if len(self._tree.problems) >= MAX_PROBLEMS:
            raise _Stop(self._problem(event, path, "too many problems; mend these first"))

    def _problem(self, event: Event, path: str, text: str) -> Problem:
        return Problem(self._location(event), path, f"{path}: {text}" if path else text)

    def _location(self, event: Event) -> SourceLocation:
        mark: Any = event.start_mark
        return SourceLocation(self._tree.file, mark.line + 1, mark.column + 1)
