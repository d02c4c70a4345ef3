"""Which graphs there are: what workers have announced."""

from typing import Annotated

from fastapi import Query

from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.parsing.cursors import read_name_cursor, write_name_cursor
from cadenza.web.api.parsing.query import Cursor, Limit, Text
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.graphs import GraphResponse, graph_response
from cadenza.web.api.schemas.pages import Page, page_response

routes = router("Graphs", "/graphs")
GraphId = Annotated[
    Text | None, Query(min_length=1, max_length=300, description="The exact id: only this one.")
]


@routes.get("")
async def list_graphs(
    _: Reader,
    dependencies: ApiDependencies,
    graph_id: GraphId = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[GraphResponse]:
    """By id, with the workers that know them; they belong to the installation."""
    reads, after = dependencies.reads.graphs, read_name_cursor(cursor)
    if graph_id is not None:
        graphs = list((await reads.find_graphs([graph_id])).values())
    else:
        graphs = await reads.list_graphs(after, limit + 1)
    return page_response(
        graphs, limit, graph_response, lambda graph: write_name_cursor(graph.graph_id)
    )
