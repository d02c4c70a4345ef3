"""The meter of one graph run: whether it may make a call, who pays, and what the call cost.

Calls are checked before and charged after. A limit can therefore be exceeded by calls that were in
progress when it was reached; only the number of calls is exact, since those in progress count.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cadenza.application.billing import charge
from cadenza.application.ports.billing import Means, MeansReads
from cadenza.application.ports.gateway import CallRefused, Prices, Provider
from cadenza.application.ports.store import Store
from cadenza.domain.billing import MAX_CREDITS, Basis, Charge, ModelApi, TokenUsage, covers
from cadenza.domain.errors import InvalidInput, SecretUnreadable, StoreUnavailable
from cadenza.domain.grant import GrantUse, refusal
from cadenza.domain.graph import ErrorCode, GraphRequest

LONGEST_NAME = 100  # of a model, as it is shown


@dataclass(slots=True)
class Totals:
    """What was used; `calls` are the admitted ones."""

    calls: int = 0
    tokens: int = 0
    credits: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    code: ErrorCode
    message: str


def priced(
    prices: Prices, api: ModelApi, models: tuple[str, str], usage: TokenUsage
) -> tuple[str, int]:
    """At the price of the model that answered, or of the requested one where that has no price."""
    answered, asked = models
    try:
        return answered[:LONGEST_NAME], prices.credits(api, answered, usage)
    except InvalidInput:
        return asked[:LONGEST_NAME], prices.credits(api, asked, usage)


class RunMeter:
    def __init__(
        self,
        store: Store,
        reads: MeansReads,
        prices: Prices,
        request: GraphRequest,
        on_charge: Callable[[Charge], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._reads = reads
        self._prices = prices
        self._request = request
        self._on_charge = on_charge
        self._grant_was_good = False
        self._admitted: dict[str, tuple[ModelApi, str]] = {}  # api and model, by unit
        self._settled: set[str] = set()  # units
        self._owed: dict[str, Charge] = {}  # by reference: what the store has not yet said yes to
        self.totals = Totals()
        self.failure: Failure | None = None  # the first, which is why a run likely failed

    async def admit(self, api: ModelApi, model: str) -> tuple[str, Provider]:
        try:
            await self.pay()
            means = await self._means(api)
            await self._check_grant(means)
        except StoreUnavailable as error:
            raise self._refused(ErrorCode.INTERNAL, "the database does not answer now") from error
        # Nothing is waited for from here on: of two calls at once, one is the last of a limit.
        self._check_means(means)
        self._check_price(api, model)
        if means.provider is None:
            raise self._refused(ErrorCode.PROVIDER_UNAVAILABLE, _no_key(api))
        self.totals.calls += 1
        unit = str(self.totals.calls)
        self._admitted[unit] = (api, model)
        return unit, means.provider

    async def settle(self, unit: str, model: str, usage: TokenUsage, basis: Basis) -> None:
        """Charge a call. While the store is away the charge is kept, and stored with the next call
        or by `pay`."""
        if unit in self._settled:
            return
        self._settled.add(unit)
        usage = usage.bounded
        model, cost = self._cost(unit, model, usage)
        caller = self._request.caller
        owed = Charge(
            account_id=caller.account_id,
            tenant_id=caller.tenant_id,
            run_id=self._request.run_id,
            attempt=self._request.attempt,
            unit=unit,
            model=model,
            usage=usage,
            credits=min(cost, MAX_CREDITS),
            basis=basis,
            schedule_id=self._request.schedule_id,
            endpoint_id=self._request.endpoint_id,
            graph_id=self._request.graph_id,
        )
        self.totals.tokens += usage.total
        self.totals.credits += owed.credits
        self._owed[owed.reference] = owed
        self._on_charge(owed)
        try:
            await self.pay()
        except StoreUnavailable:
            return

    async def pay(self) -> None:
        """Store all charges that are left. Call it until it succeeds, before the run is closed; a
        charge that is sent twice counts once."""
        for owed in tuple(self._owed.values()):
            async with self._store.transaction() as tx:
                await charge(tx, owed)
            self._owed.pop(owed.reference, None)

    def failed(self, code: ErrorCode, message: str) -> None:
        self.failure = self.failure or Failure(code, message)

    # --- Checks ---------------------------------------------------------------------------

    async def _means(self, api: ModelApi) -> Means:
        try:
            return await self._reads.means_of(self._request.caller, api)
        except SecretUnreadable as error:
            raise self._refused(ErrorCode.PROVIDER_UNAVAILABLE, str(error)) from error

    async def _check_grant(self, means: Means) -> None:
        """Checked again before the first call: it may have been revoked since the run started."""
        if self._grant_was_good:
            return
        request = self._request
        reason = refusal(means.grant, request.graph_id, means.read_at)
        if reason is None:
            self._grant_was_good = True
            return
        use = GrantUse(request.caller.grant_id, request.run_id, request.graph_id, reason)
        async with self._store.transaction() as tx:
            await tx.log_grant_uses([use])
        message = f"{reason}: the grant does not allow this run any more"
        raise self._refused(ErrorCode.ABORTED, message)

    def _check_means(self, means: Means) -> None:
        if means.account is None:
            raise self._refused(ErrorCode.INSUFFICIENT_CREDITS, "the account is gone")
        balance, limits, spent = means.account.balance, self._request.limits, self.totals
        if not covers(balance):
            fix = f"the account {means.account.name!r} has {balance} credits; top it up"
            raise self._refused(ErrorCode.INSUFFICIENT_CREDITS, fix)
        reached = (
            ("credits", limits.credits, spent.credits),
            ("calls", limits.calls, spent.calls),
            ("tokens", limits.tokens, spent.tokens),
        )
        for name, limit, used in reached:
            if limit is not None and used >= limit:
                message = f"limits.{name}: the run has used {used} of {limit}"
                raise self._refused(ErrorCode.ABORTED, message)

    def _check_price(self, api: ModelApi, model: str) -> None:
        try:
            self._prices.credits(api, model, TokenUsage(1, 1))
        except InvalidInput as error:
            name = model[:LONGEST_NAME]
            message = f"no price for model {name!r}: set one under CADENZA_PRICES"
            raise self._refused(ErrorCode.INVALID_REQUEST, message) from error

    def _cost(self, unit: str, model: str, usage: TokenUsage) -> tuple[str, int]:
        api, asked = self._admitted[unit]
        return priced(self._prices, api, (model, asked), usage)

    def _refused(self, code: ErrorCode, message: str) -> CallRefused:
        self.failed(code, message)
        return CallRefused(code, message)


def _no_key(api: ModelApi) -> str:
    how = f"cadenza accounts create-key ACCOUNT NAME --api {api}"
    return f"the account has no default key for {api}: {how}, or default-key"
