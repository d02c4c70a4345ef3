"""Graphs as they are sent."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from cadenza.domain.known_graph import GraphAtWorker, GraphState, KnownGraph
from cadenza.web.api.schemas.base import ResponseSchema


class GraphWorkerResponse(ResponseSchema):
    worker: str
    labels: list[str] = Field(description="What a schedule may require.")
    state: GraphState = Field(description="Of the graph at this worker.")
    problem: str | None = Field(description="Why it could not be loaded there.")
    seen_at: datetime = Field(description="When the worker last said that it lives.")


class GraphResponse(ResponseSchema):
    graph_id: str = Field(examples=["langgraph:poet"])
    state: GraphState = Field(
        description="`ready`: a living worker has it; `broken`: it could not be loaded; `away`: "
        "no worker that knows it has been seen of late."
    )
    problem: str | None
    input_schema: Mapping[str, Any] | None = Field(
        description="JSON Schema of its input, where the graph says it."
    )
    seen_at: datetime
    workers: list[GraphWorkerResponse]


def graph_response(graph: KnownGraph) -> GraphResponse:
    return GraphResponse(
        graph_id=graph.graph_id,
        state=graph.state,
        problem=graph.problem,
        input_schema=graph.input_schema,
        seen_at=graph.seen_at,
        workers=[_worker_response(place) for place in graph.workers],
    )


def _worker_response(place: GraphAtWorker) -> GraphWorkerResponse:
    return GraphWorkerResponse(
        worker=place.worker,
        labels=list(place.labels),
        state=place.state,
        problem=place.graph.problem,
        seen_at=place.seen_at,
    )
