"""Which two answers stand above a score: what the rules read first, else what moves most."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev
from typing import Any, cast
from uuid import UUID

from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.application.ports.expressions import Expressions
from cadenza.application.ports.score import Point
from cadenza.domain.rule import Rule
from cadenza.domain.run import Body
from cadenza.domain.score import Limit, limit_in

SERIES = 2
POINTS = 500
LIMITS = 20  # of a field
CHOICES = 60  # fields that somebody may choose from
LOOKED_AT = 10  # lanes whose answers are looked into where no rule says which
ANSWERS = 12  # of each of them
_DEEPEST = 3
_FIELDS = 50

Path = tuple[str, ...]
Choice = tuple[UUID, Path]


@dataclass(frozen=True, slots=True)
class Field:
    """A number in the answers of an endpoint."""

    endpoint_id: UUID
    endpoint_name: str
    path: Path
    limits: tuple[Limit, ...] = ()  # that declared rules compare it with


@dataclass(frozen=True, slots=True)
class Series:
    field: Field
    points: Sequence[Point]


def fields_of_rules(
    rules: Sequence[Rule], lanes: Sequence[StoredEndpoint], expressions: Expressions
) -> list[Field]:
    """In the order of the rules, with every limit that one of them names."""
    fields: dict[tuple[UUID, Path], Field] = {}
    for rule in rules:
        for read in expressions.paths(rule.when):
            field = _field(rule, read, lanes)
            if field is None:
                continue
            key = (field.endpoint_id, field.path)
            limits = (*fields[key].limits, *field.limits) if key in fields else field.limits
            fields[key] = replace(field, limits=limits[:LIMITS])
    return list(fields.values())


def _field(rule: Rule, read: Path, lanes: Sequence[StoredEndpoint]) -> Field | None:
    """`response.depth` of the rule's endpoint, or `siblings.other.response.depth`."""
    name, path = rule.endpoint, read
    if read[0] == "siblings" and len(read) > 1:
        name, path = read[1], read[2:]
    if len(path) < 2 or path[0] != "response":
        return None
    own = next((lane.endpoint for lane in lanes if name in (None, lane.endpoint.name)), None)
    if own is None:
        return None
    limit = limit_in(rule.when, read, rule.name)
    return Field(own.id, own.name, path[1:], () if limit is None else (limit,))


def chosen_fields(
    choice: Sequence[Choice], known: Sequence[Field], lanes: Sequence[StoredEndpoint]
) -> list[Field]:
    """What somebody wants to see, of these lanes; with the limits of the rules."""
    by_key = {(field.endpoint_id, field.path): field for field in known}
    names = {lane.endpoint.id: lane.endpoint.name for lane in lanes}
    return [
        by_key.get((id_, path)) or Field(id_, names[id_], path)
        for id_, path in choice
        if id_ in names
    ]


def telling_fields(
    bodies: Mapping[UUID, Sequence[Body]], lanes: Sequence[StoredEndpoint]
) -> list[Field]:
    """Numbers that are in most answers and move, those that move most first."""
    scored: list[tuple[float, Field]] = []
    for lane in lanes:
        answers = bodies.get(lane.endpoint.id, ())
        numbers: dict[Path, list[float]] = {}
        for body in answers:
            for path, number in _numbers(body, ()):
                numbers.setdefault(path, []).append(number)
        for path, values in list(numbers.items())[:_FIELDS]:
            if 2 * len(values) > len(answers):
                field = Field(lane.endpoint.id, lane.endpoint.name, path)
                scored.append((_movement(values), field))
    scored.sort(key=lambda entry: -entry[0])
    return [field for _, field in scored]


def _movement(values: Sequence[float]) -> float:
    """Against its size, so that a small number counts as much as a large one."""
    size = max(abs(fmean(values)), 1e-9)
    return min(pstdev(values) / size, 10.0)


def _numbers(body: object, path: Path) -> Iterator[tuple[Path, float]]:
    if isinstance(body, bool):
        return
    if isinstance(body, int | float) and path and abs(body) < 1e15:
        yield path, float(body)
    elif isinstance(body, dict) and len(path) < _DEEPEST:
        for name, inner in list(cast("dict[str, Any]", body).items())[:_FIELDS]:
            yield from _numbers(inner, (*path, name))
