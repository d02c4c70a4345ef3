"""What the API is made of; a root puts it together."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from fastapi import Request

from cadenza.application.ports.accounts import Keys, Tenants
from cadenza.application.ports.catalogue import Endpoints, Jobs
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.expressions import Expressions
from cadenza.application.ports.latest_answers import LatestAnswers
from cadenza.application.ports.manifests import Manifests
from cadenza.application.ports.signing_keys import SigningKeyStore
from cadenza.application.ports.suggestions import SuggestionStore
from cadenza.application.suggestions import AcceptSuggestion
from cadenza.domain.cron import Cron
from cadenza.domain.definition import ValidationPolicy
from cadenza.domain.target import Secret
from cadenza.web.api.rate_limit import RateLimit
from cadenza.web.api.reads import Reads


@dataclass(frozen=True, slots=True)
class Dependencies:
    keys: Keys
    tenants: Tenants
    jobs: Jobs
    endpoints: Endpoints
    manifests: Manifests
    signing_keys: SigningKeyStore
    suggestions: SuggestionStore
    acceptance: AcceptSuggestion
    reads: Reads
    latest_answers: LatestAnswers
    expressions: Expressions
    dispatcher: Dispatcher  # for test calls
    door: ValidationPolicy
    cron: Cron
    clock: Clock
    rate_limit: RateLimit
    new_id: Callable[[], UUID]
    new_secret: Callable[[], str]  # 43 characters of chance
    new_signing_secret: Callable[[], Secret]
    monotonic: Callable[[], float]
    operator_hash: bytes | None = None  # of the key that makes tenants


async def dependencies_of(request: Request) -> Dependencies:
    # async, although it waits for nothing: else every request would go through a thread for it
    return request.app.state.dependencies
