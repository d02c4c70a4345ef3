"""What is not as it should be, and who is told of it."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field

from cadenza.client.async_client import AsyncClient
from cadenza.client.generated import operations
from cadenza.mcp.answers import Done, Entry, Fields, Records
from cadenza.mcp.asking import Cursor, Job, Limit, exact_id, page, whole_id
from cadenza.mcp.bounded import untrusted
from cadenza.mcp.history_tools import Id
from cadenza.mcp.registry import reads, writes

Kind = Literal[
    "failing", "late", "planner-pause", "suggestion", "quota", "grant-expiring", "key-expiring",
    "worker-lost", "channel-failing", "webhook-disabled",
]  # fmt: skip
Incident = Annotated[Id, Field(description="Its id, or the beginning of it.")]


class IncidentEntry(Entry):
    @staticmethod
    def of(fields: Fields) -> "IncidentEntry":
        return IncidentEntry.model_validate(_marked(fields))


def _marked(incident: Fields) -> Fields:
    """Its detail may quote a target's answer, or a planner that read one."""
    return {**incident, "detail": untrusted(incident["detail"])}


@reads("Incidents: current and past problems")
async def get_incidents(
    api: AsyncClient,
    incident: Incident | None = None,
    is_open: Annotated[
        bool | None, Field(description="true: open ones; false: resolved ones; null: all.")
    ] = True,
    kind: Kind | None = None,
    job: Job | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Records:
    """Incidents, newest first: endpoints that fail or are late, lost workers, exhausted quotas,
    failing channels; with start, severity and who acknowledged them. Or one incident by its id.

    Examples: {}; {"kind": "failing", "job": "shop"}; {"incident": "01a1ece2-aff1"}
    """
    if incident is not None:
        incident_id = await whole_id(api, "incident", "incident", incident)
        record = await api.call(operations.GET_INCIDENT, incident_id)
        return Records(summary=_words(record), data=_marked(record))
    fields = {"open": is_open, "kind": kind, "job": job, "limit": limit, "cursor": cursor}
    listed = await page(api, IncidentEntry, operations.LIST_INCIDENTS, **fields)
    return Records(
        summary=f"{len(listed.items)} incidents",
        items=list(listed.items),
        next_cursor=listed.next_cursor,
        note=listed.note,
    )


def _words(incident: Fields) -> str:
    state = "open"
    if incident["resolved_at"]:
        state = f"resolved by {incident['resolved_by']}"
    elif incident["acknowledged_at"]:
        state = f"acknowledged by {incident['acknowledged_by']}"
    since = f"since {incident['opened_at']}"
    return f"{incident['severity']}, {incident['kind']}: {incident['name']}, {since}, {state}"


@writes("Acknowledge or resolve an incident", is_idempotent=True)
async def act_on_incident(
    api: AsyncClient, incident: Incident, action: Literal["acknowledge", "resolve"]
) -> Done:
    """Acknowledge an incident (a person is working on it; no more notifications unless it gets
    worse or ends), or resolve it by hand. Resolving fixes nothing: the incident reopens if the
    problem occurs again. Incidents resolve themselves when the problem ends. Do either only if the
    person asked for it.

    Example: {"incident": "01a1ece2-aff1", "action": "acknowledge"}
    """
    incident_id = await whole_id(api, "incident", "incident", incident)
    operations_by_action = {
        "acknowledge": operations.ACKNOWLEDGE_INCIDENT,
        "resolve": operations.RESOLVE_INCIDENT,
    }
    record = await api.call(operations_by_action[action], incident_id)
    return Done(done=True, summary=_words(record), data=_marked(record))


@writes("Test a channel or webhook, or repeat a delivery")
async def send_notification(
    api: AsyncClient,
    action: Literal["test_channel", "test_webhook", "resend_delivery"],
    id: Annotated[  # noqa: A002 - a model reads it
        Id, Field(description="Id of the channel, webhook or delivery, from get_records.")
    ],
) -> Done:
    """Send a test message to a channel or a webhook, or repeat a delivery. This really sends
    something to people or programs. For the result call get_records with kind deliveries a moment
    later.

    Example: {"action": "test_channel", "id": "01a1ece2-aff1-7…"}
    """
    operations_by_action = {
        "test_channel": operations.TEST_CHANNEL,
        "test_webhook": operations.TEST_WEBHOOK,
        "resend_delivery": operations.RESEND_DELIVERY,
    }
    sent = await api.call(operations_by_action[action], exact_id("id", id))
    return Done(done=True, summary=f"{action}: it is {sent['status']}", data=marked_delivery(sent))


class DeliveryEntry(Entry):
    @staticmethod
    def of(fields: Fields) -> "DeliveryEntry":
        return DeliveryEntry.model_validate(marked_delivery(fields))


def without_path(webhook: Fields) -> Fields:
    """The path and the query of an address are often its secret."""
    parts = urlsplit(str(webhook["url"]))
    return {**webhook, "url": f"{parts.scheme}://{parts.hostname}/…"}


def marked_delivery(delivery: Fields) -> Fields:
    """What whoever it was sent to answered stands in its error."""
    return {**delivery, "error": untrusted(delivery["error"])}


TOOLS = (get_incidents, act_on_incident, send_notification)
