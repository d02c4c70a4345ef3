"""`cadenza graphs`: what workers can run."""

from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit
from cadenza.cli.lookup import MOST_LOOKED_AT, unknown
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import json_text, quoted

Item = dict[str, Any]
NO_GRAPHS = (
    "No graphs: no graph worker is running. Start one in the folder of your graphs:\n"
    "  CADENZA_GRAPH_FILES=langgraph.json cadenza graph-worker"
)
GraphId = Annotated[str, typer.Argument(metavar="GRAPH", help="A graph id: provider:name.")]
cli = group("graphs", "List the AI graphs that workers can run.")


@command(cli, "list")
def list_graphs(api: Api, out: Output, limit: Limit = 200) -> None:
    """List the graphs that workers can run.

    Example: cadenza graphs list
    """
    columns = [
        Column("graph", lambda graph: graph["graph_id"]),
        Column("state", lambda graph: graph["state"]),
        Column("workers", workers_here, rank=2),
        Column("labels", lambda graph: ", ".join(_labels(graph)), rank=3, is_text=True),
        Column("seen", lambda graph: out.times.relative(graph["seen_at"]), rank=1),
        Column("problem", lambda graph: graph["problem"] or "", is_text=True),
    ]
    out.rows(api.pages("/graphs", limit), columns, NO_GRAPHS, limit)


@command(cli, "show")
def show_graph(api: Api, out: Output, graph: GraphId) -> None:
    """Show one graph: its state, its input and its workers.

    Example: cadenza graphs show langgraph:poet
    """
    known = _find(api, graph)
    schema = known["input_schema"]
    workers = [_worker_line(out, worker) for worker in known["workers"]]
    following = f"cadenza schedules create {quoted(known['graph_id'])} --cron '0 9 * * *'"
    lines = [
        ("graph", known["graph_id"]),
        ("state", known["state"]),
        ("problem", known["problem"]),
        ("input", None if schema is None else json_text(schema)),
        ("workers", "\n".join(workers)),
        ("schedule it", following if known["state"] == "ready" else None),
    ]
    out.one(known, lines)


def _find(api: Api, graph_id: str) -> Item:
    if 0 < len(graph_id) <= 300:
        for graph in api.get("/graphs", {"graph_id": graph_id})["items"]:
            return graph
    names = (graph["graph_id"] for graph in api.pages("/graphs", MOST_LOOKED_AT))
    raise unknown("graph", graph_id, names, "cadenza graphs list")


def workers_here(graph: Item) -> int:
    """One that was killed is kept for a while, as away."""
    return sum(worker["state"] != "away" for worker in graph["workers"])


def _labels(graph: Item) -> list[str]:
    return sorted({label for worker in graph["workers"] for label in worker["labels"]})


def _worker_line(out: Output, worker: Item) -> str:
    labels = f" ({', '.join(worker['labels'])})" if worker["labels"] else ""
    problem = f": {worker['problem']}" if worker["problem"] else ""
    seen = out.times.relative(worker["seen_at"])
    return f"{worker['worker']}{labels}, {worker['state']}, seen {seen}{problem}"
