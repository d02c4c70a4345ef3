"""The request bodies about channels, routes and webhooks, and what they mean."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, time
from typing import Annotated, Any
from uuid import UUID

from pydantic import ConfigDict, Field

from cadenza.application.notifications import ChannelPatch
from cadenza.application.webhooks import NewWebhook, WebhookPatch
from cadenza.domain.delivery import MAX_KINDS
from cadenza.domain.errors import InvalidInput
from cadenza.domain.incident import IncidentKind, Severity
from cadenza.domain.notification import COOLDOWN, GROUP, QuietHours, Route
from cadenza.domain.target import Secret
from cadenza.domain.target_validation import MAX_URL
from cadenza.manifest.durations import parse_duration
from cadenza.manifest.models import Document, Duration, Name
from cadenza.web.api.parsing.patterns import CLOCK

Id = Annotated[UUID, Field(strict=False)]
ChannelUrl = Annotated[
    str,
    Field(
        min_length=1,
        max_length=2000,
        examples=["slack://TokenA/TokenB/TokenC/#alerts", "mailtos://user:pass@example.com"],
        description="An apprise URL: encrypted at rest, and never shown in full.",
    ),
]
EventKind = Annotated[str, Field(min_length=1, max_length=60, examples=["run.failed", "run.*"])]
Kind = Annotated[IncidentKind, Field(strict=False)]
AtLeast = Annotated[Severity, Field(strict=False)]
Clock = Annotated[str, Field(pattern=CLOCK)]


class ChannelBody(Document):
    name: Name
    url: ChannelUrl


class ChannelPatchBody(Document):
    model_config = ConfigDict(json_schema_extra={"examples": [{"enabled": True}]})

    name: Name | None = None
    url: ChannelUrl | None = None
    enabled: bool | None = None

    def parsed(self) -> ChannelPatch:
        url = None if self.url is None else Secret(self.url)
        return ChannelPatch(self.name, url, self.enabled)


class QuietBody(Document):
    begins: Clock = Field(alias="from", examples=["22:00"])
    ends: Clock = Field(alias="to", examples=["07:00"])
    timezone: str = Field(default="UTC", min_length=1, max_length=64, examples=["Europe/Berlin"])

    def parsed(self) -> QuietHours:
        begins, ends = time.fromisoformat(self.begins), time.fromisoformat(self.ends)
        return QuietHours(begins, ends, self.timezone)


class RouteFields(Document):
    job_id: Id | None = Field(default=None, description="Only what is about this job.")
    kinds: list[Kind] = Field(default_factory=list[Kind], max_length=20, description="None: all.")
    min_severity: AtLeast = Severity.WARNING
    quiet: QuietBody | None = Field(
        default=None, description="Held back until they end; not told at all if it is over by then."
    )
    critical_passes: bool = Field(default=False, description="Critical news in quiet hours, too.")
    group: Duration = Field(
        default=f"{GROUP.seconds}s", description="How long news waits for company."
    )
    cooldown: Duration = Field(
        default=f"{COOLDOWN.seconds // 3600}h",
        description="The same news is not told twice within it.",
    )
    tells_recovery: bool = True
    enabled: bool = True

    def onto(self, route: Route, names: set[str]) -> Route:
        """The fields that were given."""
        values: dict[str, Any] = {
            "job_id": self.job_id,
            "kinds": frozenset(self.kinds),
            "min_severity": self.min_severity,
            "quiet": None if self.quiet is None else self.quiet.parsed(),
            "critical_passes": self.critical_passes,
            "group": parse_duration(self.group),
            "cooldown": parse_duration(self.cooldown),
            "tells_recovery": self.tells_recovery,
            "enabled": self.enabled,
        }
        return replace(route, **{name: values[name] for name in names if name in values})


class RouteBody(RouteFields):
    channel_id: Id

    def parsed(self, tenant_id: UUID) -> Callable[[UUID, datetime], Route]:
        def made(route_id: UUID, now: datetime) -> Route:
            plain = Route(route_id, tenant_id, self.channel_id, now)
            return self.onto(plain, set(RouteFields.model_fields))

        return made


class RoutePatchBody(RouteFields):
    """Fields that are left out stay."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"min_severity": "error", "cooldown": "4h"}]}
    )


class WebhookBody(Document):
    name: Name
    url: str = Field(min_length=1, max_length=MAX_URL, examples=["https://ci.example/hooks/1"])
    kinds: list[EventKind] = Field(
        min_length=1,
        max_length=MAX_KINDS,
        examples=[["run.failed", "incident.*"]],
        description="Kinds of events; * at the end stands for anything.",
    )
    job_id: Id | None = Field(default=None, description="Only events of this job.")

    def parsed(self) -> NewWebhook:
        return NewWebhook(self.name, self.url, tuple(self.kinds), self.job_id)


class WebhookPatchBody(Document):
    model_config = ConfigDict(json_schema_extra={"examples": [{"enabled": True}]})

    name: Name | None = None
    url: str | None = Field(default=None, min_length=1, max_length=MAX_URL)
    kinds: list[EventKind] | None = Field(default=None, min_length=1, max_length=MAX_KINDS)
    enabled: bool | None = None

    def parsed(self) -> WebhookPatch:
        kinds = None if self.kinds is None else tuple(self.kinds)
        return WebhookPatch(self.name, self.url, kinds, self.enabled)


def one_filter(channel_id: UUID | None, webhook_id: UUID | None) -> None:
    if channel_id is not None and webhook_id is not None:
        raise InvalidInput("webhook_id", str(webhook_id), "give `channel_id` or `webhook_id`")
