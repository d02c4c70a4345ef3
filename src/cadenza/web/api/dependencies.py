"""What the routes depend on; a root puts it together."""

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
from cadenza.application.ports.records import Records
from cadenza.application.ports.run_search import RunReads
from cadenza.application.ports.signing_keys import SigningKeyStore
from cadenza.application.ports.suggestions import SuggestionStore
from cadenza.application.ports.usage import Readiness, UsageReads
from cadenza.application.suggestions import AcceptSuggestion
from cadenza.domain.cron import Cron
from cadenza.domain.definition import ValidationPolicy
from cadenza.domain.target import Secret
from cadenza.web.api.rate_limit import RateLimit
from cadenza.web.api.streams import Streams


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
    runs: RunReads
    records: Records
    usage: UsageReads
    readiness: Readiness
    streams: Streams
    latest_answers: LatestAnswers
    expressions: Expressions
    dispatcher: Dispatcher  # for test calls
    validation_policy: ValidationPolicy
    cron: Cron
    clock: Clock
    rate_limit: RateLimit
    new_id: Callable[[], UUID]
    new_secret: Callable[[], str]  # 43 characters of chance
    new_signing_secret: Callable[[], Secret]
    monotonic: Callable[[], float]
    admin_key_hash: bytes | None = None  # of the installation admin's key, which makes tenants


async def dependencies_of(request: Request) -> Dependencies:
    # async, although it waits for nothing: else every request would go through a thread for it
    return request.app.state.dependencies
