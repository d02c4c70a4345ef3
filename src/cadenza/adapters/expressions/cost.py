"""How long a CEL expression may take on some values, estimated before it is run.

The library cannot be interrupted and holds the interpreter's lock, and it is slow in ways that an
expression can provoke: `map` and `filter` copy their whole result with every element, every step
into a value copies what it leads to, and nested macros multiply. So the work is estimated first,
from the expression's shape and the values' size, on the safe side. One unit is what copying one
element takes: some 0.15 µs.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import inf, prod
from typing import Any, cast

from cadenza.adapters.expressions.shape import BYTES_IN_A_UNIT, Path, Scope

BUDGET = 400_000  # units: some 60 ms
_MATCH_STEP = 0.3  # units, for each character of a text and each part of a pattern
_LIGHT = frozenset((bool, int, float, datetime, type(None)))
_COLLECTING = frozenset(("map", "filter"))


def cost_of(shape: Scope, values: Mapping[str, Any]) -> float:
    """Exact only where it may matter: most rules compare a few numbers."""
    if not shape.inner and not shape.patterns:
        at_most = shape.steps * shape.copies * (1 + len(shape.paths) * _most_weight(values))
        if at_most <= BUDGET:
            return at_most
    return _Estimate(shape, values).cost(shape, times=1, elements=0)


class _Estimate:
    def __init__(self, shape: Scope, values: Mapping[str, Any]) -> None:
        scopes = tuple(shape.all())
        self._values = values
        self._weights: dict[Path, int] = {}
        self._written = 1 + sum(scope.commas for scope in scopes)
        self._writes_values = any(scope.writes_values for scope in scopes)
        self._longest = self._written
        self._text = max(scope.text for scope in scopes)
        # The result of one `map` may be the input of the next.
        self._growth = prod(scope.copies for scope in scopes if scope.macro == "map")
        self._all = 0
        if shape.inner or shape.patterns:
            steps = sum(scope.steps for scope in scopes)
            self._all = self._growth * (steps + sum(map(self._weigh, values.values())))

    def cost(self, scope: Scope, times: float, elements: float) -> float:
        """Of evaluating it so many times, on elements of this total weight."""
        outer = [self._weight(path) for path in scope.outer_paths()]
        touched = max(elements, times) + times * sum(outer)
        cost = scope.steps * scope.copies * touched
        if scope.macro in _COLLECTING:
            cost += scope.copies * self._longest * touched
        for pattern in scope.patterns:
            steps = self._text * self._growth * scope.copies * pattern.parts
            cost += times * (pattern.units + _MATCH_STEP * steps)
        times *= scope.copies
        if scope.macro and not outer:
            # Its elements together weigh no more than what they are taken from.
            elements *= scope.copies
            times = max(elements, times * self._written)
        else:
            times, elements = times * self._longest, times * self._all
        return cost + sum(self.cost(inner, times, elements) for inner in scope.inner)

    def _weight(self, path: Path) -> int:
        if path not in self._weights:
            self._weights[path] = self._growth * self._weigh_path(path)
        return self._weights[path]

    def _weigh_path(self, path: Path) -> int:
        if path[0] not in self._values:  # the element of a macro further out
            # A list that is written in the expression may have anything as an element.
            return self._all if self._writes_values else _heaviest(self._values.values())
        value = self._values[path[0]]
        for key in path[1:]:
            if not isinstance(value, Mapping):
                return 1
            value = cast("Mapping[str, Any]", value).get(key)
        return self._weigh(value)

    def _weigh(self, value: Any) -> int:
        """How much it is to copy; updates the longest text and list on the way."""
        weight, waiting = 0, [value]
        while waiting:
            value = waiting.pop()
            weight += 1
            if isinstance(value, str):
                self._text = max(self._text, len(value))
                weight += len(value) // BYTES_IN_A_UNIT
            elif isinstance(value, list | tuple):
                elements = cast("Sequence[Any]", value)
                self._longest = max(self._longest, len(elements))
                waiting += elements
            elif isinstance(value, Mapping):
                items = cast("Mapping[str, Any]", value)
                self._longest = max(self._longest, len(items))
                weight += len(items)
                waiting += items.values()
        return weight


def _most_weight(values: Mapping[str, Any]) -> float:
    """A quick upper bound for the weight of any part; infinite where there is anything else than
    objects and numbers."""
    weight, waiting = 1, [values]
    while waiting:
        for value in waiting.pop().values():
            if type(value) in _LIGHT:
                weight += 2
            elif type(value) is dict:
                weight += 2
                waiting.append(cast("dict[str, Any]", value))
            else:
                return inf
    return weight


def _heaviest(values: Iterable[Any]) -> int:
    """What the heaviest element of any list weighs."""
    most = 1

    def weigh(value: Any) -> int:
        nonlocal most
        if isinstance(value, str):
            return 1 + len(value) // BYTES_IN_A_UNIT
        if isinstance(value, list | tuple):
            weights = list(map(weigh, cast("Sequence[Any]", value)))
            most = max(most, max(weights, default=1))
            return 1 + sum(weights)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value)
            return 1 + len(items) + sum(map(weigh, items.values()))
        return 1

    for value in values:
        weigh(value)
    return most
