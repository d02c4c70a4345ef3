"""What programs count for whoever watches them: told once for a batch, not for every run."""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol
from uuid import UUID

from cadenza.application.ports.claims import ObservedClaim, ObservedFinish
from cadenza.domain.billing import TokenUsage
from cadenza.domain.session import Session


class Telemetry(Protocol):
    """Never waits and never fails the caller."""

    def claimed(self, claims: Sequence[ObservedClaim], seconds: float) -> None:
        """One claim, which took so long."""
        ...

    def finished(
        self, batch: Sequence[ObservedFinish], fenced: Collection[UUID], seconds: float
    ) -> None:
        """Stored together in so long; the fenced ones came too late to count."""
        ...

    def store_failed(self, operation: str) -> None:
        """The database did not answer."""
        ...

    def happened(self, kind: str) -> None:
        """An event of this kind."""
        ...

    def analysed(self, sessions: Sequence[Session]) -> None: ...

    def spent(self, use: str, usage: TokenUsage, dollars: float) -> None:
        """Tokens of models, for graphs or for planning."""
        ...

    def delivered(self, attempts: Iterable[tuple[str, str]]) -> None:
        """Messages and events that were sent: the kind of each, and how it ended."""
        ...

    def answered(self, method: str, status: int, seconds: float) -> None:
        """A request to the API."""
        ...


class NoTelemetry:
    """Nobody watches."""

    def claimed(self, claims: Sequence[ObservedClaim], seconds: float) -> None: ...

    def finished(
        self, batch: Sequence[ObservedFinish], fenced: Collection[UUID], seconds: float
    ) -> None: ...

    def store_failed(self, operation: str) -> None: ...

    def happened(self, kind: str) -> None: ...

    def analysed(self, sessions: Sequence[Session]) -> None: ...

    def spent(self, use: str, usage: TokenUsage, dollars: float) -> None: ...

    def delivered(self, attempts: Iterable[tuple[str, str]]) -> None: ...

    def answered(self, method: str, status: int, seconds: float) -> None: ...


NO_TELEMETRY = NoTelemetry()
