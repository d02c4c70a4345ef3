"""The gateway: how a graph's calls of models leave its child process, counted and limited."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from cadenza.domain.billing import Basis, ModelApi, TokenUsage
from cadenza.domain.errors import CadenzaError
from cadenza.domain.graph import ErrorCode, GraphRequest
from cadenza.domain.target import Secret


class CallRefused(CadenzaError):
    """The call may not be made: no credits, a limit of the run, a grant that is gone, no price."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        self.code = code
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a call goes. The key stays in the worker."""

    api: ModelApi
    base_url: str
    key: Secret


class Meter(Protocol):
    """Of one run: what the gateway asks before each call, and tells it after."""

    async def admit(self, api: ModelApi, model: str) -> tuple[str, Provider]:
        """The unit under which the call will be charged, and where it goes; or CallRefused."""
        ...

    async def settle(self, unit: str, model: str, usage: TokenUsage, basis: Basis) -> None:
        """Charge it. The same unit told twice is charged once."""
        ...

    def failed(self, code: ErrorCode, message: str) -> None:
        """The provider did not answer as it should: why the run will likely fail."""
        ...


class Gateway(Protocol):
    async def open(self, request: GraphRequest, meter: Meter) -> Mapping[str, str]:
        """The environment for the child: base addresses, and a token that is good for this run."""
        ...

    async def close(self, run_id: UUID) -> None:
        """The token is good no more; streams under way are cut and settled as estimates."""
        ...


class Prices(Protocol):
    def credits(self, api: ModelApi, model: str, usage: TokenUsage) -> int:
        """What it costs; InvalidInput for `model` where its price is not known."""
        ...
