"""What the reading routes need; a root puts it together."""

from dataclasses import dataclass

from cadenza.application.ports.records import Records
from cadenza.application.ports.run_search import RunReads
from cadenza.application.ports.usage import Readiness, UsageReads
from cadenza.web.api.streams import Streams


@dataclass(frozen=True, slots=True)
class Reads:
    runs: RunReads
    records: Records
    usage: UsageReads
    readiness: Readiness
    streams: Streams
