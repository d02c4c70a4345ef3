"""What is known of graphs before they run."""

from collections.abc import Sequence

from cadenza.application.ports.workers import GraphReads
from cadenza.domain.known_graph import warning_of
from cadenza.domain.schedule import ScheduleDefinition


async def graph_warnings(
    reads: GraphReads, definitions: Sequence[ScheduleDefinition]
) -> Sequence[str | None]:
    """For each, why it would not run now; None where it would, or where it is not to run."""
    if not definitions:
        return []
    known = await reads.find_graphs([definition.graph_id for definition in definitions])
    return [
        warning_of(definition, known.get(definition.graph_id)) if definition.enabled else None
        for definition in definitions
    ]
