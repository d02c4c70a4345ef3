"""What is known about graphs before they run."""

from collections.abc import Sequence

from cadenza.application.ports.workers import GraphReads
from cadenza.domain.known_graph import warning_of
from cadenza.domain.schedule import ScheduleDefinition


async def graph_warnings(
    reads: GraphReads, definitions: Sequence[ScheduleDefinition]
) -> Sequence[str | None]:
    """For each graph, why it would fail to run now; None where it would run or is not meant to."""
    if not definitions:
        return []
    known = await reads.find_graphs([definition.graph_id for definition in definitions])
    return [
        warning_of(definition, known.get(definition.graph_id)) if definition.enabled else None
        for definition in definitions
    ]
