"""Graphs as workers announce them, and what stands in the way of one that is scheduled."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from cadenza.domain.schedule import ScheduleDefinition


@dataclass(frozen=True, slots=True)
class AnnouncedGraph:
    graph_id: str
    problem: str | None = None  # why it could not be loaded
    input_schema: Mapping[str, Any] | None = None  # JSON Schema, where the graph says it


@dataclass(frozen=True, slots=True)
class Announcement:
    """What one worker can run."""

    labels: tuple[str, ...] = ()
    graphs: tuple[AnnouncedGraph, ...] = ()


class GraphState(StrEnum):
    READY = "ready"
    BROKEN = "broken"  # no living worker could load it
    AWAY = "away"  # no worker that knows it lives


@dataclass(frozen=True, slots=True)
class GraphAtWorker:
    worker: str
    labels: tuple[str, ...]
    seen_at: datetime
    is_alive: bool
    graph: AnnouncedGraph

    @property
    def state(self) -> GraphState:
        if not self.is_alive:
            return GraphState.AWAY
        return GraphState.READY if self.graph.problem is None else GraphState.BROKEN


@dataclass(frozen=True, slots=True)
class KnownGraph:
    """With every worker that has announced it, at least one."""

    graph_id: str
    workers: tuple[GraphAtWorker, ...]

    @property
    def state(self) -> GraphState:
        return self._best.state

    @property
    def problem(self) -> str | None:
        return self._best.graph.problem

    @property
    def input_schema(self) -> Mapping[str, Any] | None:
        return self._best.graph.input_schema

    @property
    def seen_at(self) -> datetime:
        return max(place.seen_at for place in self.workers)

    @property
    def _best(self) -> GraphAtWorker:
        """What is said of the graph is what its best worker says; of several, who was seen last."""
        order = list(GraphState)
        return min(self.workers, key=lambda place: (order.index(place.state), -_at(place)))


def _at(place: GraphAtWorker) -> float:
    return place.seen_at.timestamp()


def warning_of(definition: ScheduleDefinition, graph: KnownGraph | None) -> str | None:
    """Why it would not run now, and what to do. It may be scheduled all the same: a worker may
    come later."""
    graph_id = definition.graph_id
    if graph is None:
        return f"no worker knows the graph {graph_id}; `cadenza graphs list` shows those there are"
    if graph.state is GraphState.AWAY:
        return f"no worker that knows the graph {graph_id} is running; start `cadenza graph-worker`"
    if graph.state is GraphState.BROKEN:
        return f"the graph {graph_id} could not be loaded: {graph.problem}"
    ready = [place for place in graph.workers if place.state is GraphState.READY]
    if any(set(definition.requires) <= set(place.labels) for place in ready):
        return None
    return (
        f"no worker that has the graph {graph_id} has all the labels "
        f"{_listed(definition.requires)} that it requires; give them by CADENZA_GRAPH_LABELS"
    )


def _listed(labels: Iterable[str]) -> str:
    return ", ".join(labels)
