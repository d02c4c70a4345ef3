"""The query parameters that routes take, and instants, which bodies have too."""

from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from cadenza.application.ports.catalogue import EndpointOrder, EndpointState
from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import iso
from cadenza.domain.plan import Source
from cadenza.domain.run import RunStatus
from cadenza.domain.score import RUNS_OF_A_LANE
from cadenza.manifest.names import in_nfc
from cadenza.web.api.parsing.cursors import MAX_CURSOR
from cadenza.web.api.parsing.patterns import EVENT_KIND
from cadenza.web.api.parsing.strict_json import check_text

_EXPECTED = "write an instant with its zone, like 2026-03-01T12:00:00Z"
_LAST_YEAR = 9998  # the far instants beyond mean "until resumed"


def _parse_instant(text: Any) -> datetime:
    """ISO 8601 with a zone, for without one it could mean any of forty; ValueError with the fix."""
    if not isinstance(text, str) or len(text) > 40 or not text.isascii():
        raise ValueError(_EXPECTED)
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(_EXPECTED) from error
    if instant.tzinfo is None:
        raise ValueError(_EXPECTED)
    if not 1 < instant.year <= _LAST_YEAR:
        raise ValueError(f"its year is {instant.year}; the years 2 to {_LAST_YEAR} can be used")
    return instant.astimezone(UTC)


def _storable(text: str) -> str:
    try:
        check_text("it", text)
    except InvalidInput as error:
        raise ValueError(error.fix) from error
    return text


Instant = Annotated[
    datetime, BeforeValidator(_parse_instant), Field(description="ISO 8601 with a zone.")
]
Text = Annotated[str, AfterValidator(_storable)]
Word = Annotated[Text | None, Query(min_length=1, max_length=200)]

# --- Pages ------------------------------------------------------------------------------------

Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Few = Annotated[int, Query(ge=1, le=200)]
Cursor = Annotated[
    str | None, Query(max_length=MAX_CURSOR, description="`next` of the page before.")
]

# --- Filters ----------------------------------------------------------------------------------

Named = Annotated[
    Text | None,
    BeforeValidator(in_nfc),
    Query(min_length=1, max_length=100, description="The exact name."),
]
Searched = Annotated[
    Text | None, Query(min_length=1, max_length=200, description="A piece of the text.")
]
From = Annotated[Instant | None, Query(alias="from", description="Not before this instant.")]
To = Annotated[Instant | None, Query(description="Before this instant.")]
Archived = Annotated[bool, Query(description="Those that are archived instead.")]
State = Annotated[EndpointState | None, Query(description="Left out: all that are not archived.")]
Order = Annotated[EndpointOrder, Query(description="next_run_at: only those that have one.")]
Statuses = Annotated[
    list[RunStatus] | None, Query(max_length=5, description="One or several of them.")
]
Sources = Annotated[
    list[Source] | None, Query(max_length=10, description="Why it ran when it did; several.")
]
StatusCode = Annotated[
    int | None, Query(ge=100, le=999, description="The status that the target answered with.")
]
Actor = Annotated[Word, Query(description="A piece of it.")]
Action = Annotated[Word, Query(description="Like `endpoint.pause`.")]
Subject = Annotated[Word, Query(description="The id of what it was done to.")]
Dotted = Annotated[
    Text | None,
    Query(min_length=1, max_length=300, description="A field of the answers: `queue.depth`."),
]
Kind = Annotated[str, StringConstraints(max_length=60, pattern=EVENT_KIND)]
Kinds = Annotated[
    list[Kind] | None,
    Query(max_length=20, description="Like `run.failed`, or `run` for all that begin so."),
]

# --- Others -----------------------------------------------------------------------------------

Buckets = Annotated[
    int, Query(ge=1, le=600, description="Into how many parts of equal width at most.")
]
Days = Annotated[int, Query(ge=1, le=90, description="How many days, today among them.")]
JobIds = Annotated[list[UUID] | None, Query(max_length=100, description="Of these jobs; several.")]
LaneCount = Annotated[int, Query(ge=1, le=200, description="How many endpoints at most.")]
LaneIds = Annotated[
    list[UUID] | None,
    Query(max_length=200, description="These endpoints alone, archived or not; several."),
]


ValueChoices = Annotated[
    list[Annotated[Text, Field(max_length=240)]] | None,
    Query(max_length=2, description="`<endpoint id>:<path>` of answers to show; two at most."),
]
WithFields = Annotated[bool, Query(description="Also which fields could be shown.")]
RunsOfALane = Annotated[
    int,
    Query(
        ge=1,
        le=RUNS_OF_A_LANE,
        description="How many runs of a lane are told one by one; one that has more has buckets.",
    ),
]
Count = Annotated[int, Query(ge=1, le=100, description="How many runs ahead.")]
InSummary = Annotated[
    bool, Query(description="One event a second at most: how many of each kind, and the last few.")
]
DryRun = Annotated[bool, Query(description="Only say what would change.")]
Prune = Annotated[bool, Query(description="Archive, or delete, what the file does not have.")]
Confirm = Annotated[str, Query(max_length=100, description="Its name, to be sure.")]


def check_order(from_at: datetime | None, to_at: datetime | None) -> None:
    if from_at is not None and to_at is not None and from_at >= to_at:
        raise InvalidInput("to", iso(to_at), "an instant after `from`")


def read_choices(texts: list[str] | None) -> tuple[tuple[UUID, tuple[str, ...]], ...]:
    """The endpoint and the path within its answers that each `value` asks for."""
    return tuple(_choice(text) for text in texts or ())


def _choice(text: str) -> tuple[UUID, tuple[str, ...]]:
    endpoint_id, _, path = text.partition(":")
    try:
        return UUID(endpoint_id), tuple(path.split("."))
    except ValueError as error:
        fix = "write the id of an endpoint, a colon and a path, like …:queue.depth"
        raise InvalidInput("value", text, fix) from error
