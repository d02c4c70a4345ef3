"""What a session of the planner costs, and who pays for it.

With an account, each answer of a model is a charge in the ledger that graph runs use, so that one
balance holds for both. Without one the installation's own key pays, and the price only counts for
limits of money.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from cadenza.application.billing import charge
from cadenza.application.metering import priced
from cadenza.application.ports.accounts import TenantReads
from cadenza.application.ports.billing import BillingReads
from cadenza.application.ports.brain import AskedModel, ModelCall, Usage
from cadenza.application.ports.gateway import Prices
from cadenza.application.ports.store import Store
from cadenza.application.tools import Toolbox
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.billing import (
    CREDITS_PER_DOLLAR,
    MAX_CREDITS,
    Account,
    Charge,
    TokenUsage,
    covers,
)
from cadenza.domain.endpoint import Job
from cadenza.domain.errors import InvalidInput, NotFound, Refused
from cadenza.domain.track_record import TrackRecord

ATTEMPT = 1  # a session is held once; its next one has an id of its own
OUTPUT_SHARE = 4  # of a session's tokens: each answer is read again with every one after it


class Unpaid(Refused):
    """Nobody can pay for a session; the text is the same while that lasts."""


@dataclass(frozen=True, slots=True)
class Payer:
    account: Account | None  # None: the installation
    highest_cost: float = 0.0  # of a session, in dollars; 0 where no price is known


@dataclass(frozen=True, slots=True)
class Payers:
    billing: BillingReads
    tenants: TenantReads
    prices: Prices

    async def payer_of(self, job: Job, model: AskedModel, tokens: int) -> Payer:
        """Unpaid where its account is gone, has no credits, or no price is known."""
        account, usage = await self.account_of(job), _most_expensive(tokens)
        if account is not None and not covers(account.balance):
            raise Unpaid(f"the account {account.name!r} has no credits; top it up")
        try:
            cost = self.prices.credits(model.api, model.name, usage) / CREDITS_PER_DOLLAR
        except InvalidInput as error:
            if account is None:
                return Payer(None)  # only tokens can be counted
            fix = f"no price is known for the model {model.name!r}: set one under CADENZA_PRICES"
            raise Unpaid(f"{fix}; the account {account.name!r} cannot pay without") from error
        return Payer(account, cost)

    async def account_of(self, job: Job) -> Account | None:
        """The job's, else its tenant's; None where the installation pays."""
        name = job.planner.account
        if name is not None:
            accounts = await self.billing.list_accounts(job.tenant_id, name, None, 1)
            if not accounts:
                raise Unpaid(f"the job's planner.account {name!r} is no account of the tenant")
            return accounts[0]
        tenant = await self.tenants.get_tenant(job.tenant_id)
        if tenant.planner_account_id is None:
            return None
        try:
            return await self.billing.get_account(tenant.id, tenant.planner_account_id)
        except NotFound as error:
            raise Unpaid("the tenant's account for the planner is gone") from error


def _most_expensive(tokens: int) -> TokenUsage:
    output = tokens // OUTPUT_SHARE
    return TokenUsage(tokens - output, output)


class SessionMeter:
    """Of one session: what its calls used and cost, and what is owed for them."""

    def __init__(
        self, store: Store, prices: Prices, context: AnalysisContext, session_id: UUID, payer: Payer
    ) -> None:
        self._store = store
        self._prices = prices
        self._endpoint = context.endpoint
        self._session_id = session_id
        self._account = payer.account
        self._owed: dict[Charge, None] = {}  # in their order
        self.calls = 0
        self.usage = TokenUsage()
        self.credits = 0

    @property
    def cost(self) -> float:
        """In dollars."""
        return self.credits / CREDITS_PER_DOLLAR

    @property
    def account_id(self) -> UUID | None:
        return None if self._account is None else self._account.id

    def spent(self, call: ModelCall) -> None:
        """It is owed from now on; it waits for nothing, for a session may be cut off."""
        usage = call.usage.bounded
        self.calls += 1
        self.usage = self.usage.plus(usage)
        try:
            models = (call.answered, call.asked.name)
            model, cost = priced(self._prices, call.asked.api, models, usage)
        except InvalidInput:
            if self._account is None:
                return  # its tokens count; what they cost is not known
            raise
        cost = min(cost, MAX_CREDITS)
        self.credits += cost
        if self._account is not None:
            self._owed[self._charge(self._account, call, model, cost)] = None

    def _charge(self, account: Account, call: ModelCall, model: str, cost: int) -> Charge:
        return Charge(
            account_id=account.id,
            tenant_id=account.tenant_id,
            run_id=self._session_id,
            attempt=ATTEMPT,
            unit=str(self.calls),
            model=model,
            usage=call.usage.bounded,
            credits=cost,
            basis=call.basis,
            job_id=self._endpoint.job_id,
            endpoint_id=self._endpoint.id,
        )

    async def pay(self) -> None:
        """All that is owed; to be called until it goes well. Sent twice, a charge counts once."""
        for owed in tuple(self._owed):
            with suppress(NotFound):  # the tenant was deleted, and its account with it
                async with self._store.transaction() as tx:
                    await charge(tx, owed)
            self._owed.pop(owed, None)  # another call may have paid it at the same time


class MeteredTools:
    """The tools of a session as its brain has them: what was answered is paid before the next."""

    def __init__(self, toolbox: Toolbox, meter: SessionMeter | None) -> None:
        self.toolbox = toolbox
        self.meter = meter

    async def call(
        self, tool: str, arguments: dict[str, Any], rule_id: UUID | None = None
    ) -> dict[str, Any]:
        if self.meter is not None:
            await self.meter.pay()
        return await self.toolbox.call(tool, arguments, rule_id)

    async def track_record(self) -> TrackRecord:
        return await self.toolbox.track_record()

    def report_usage(self, usage: Usage) -> None:
        self.toolbox.report_usage(usage)

    def report_call(self, call: ModelCall) -> None:
        if self.meter is not None:
            self.meter.spent(call)

    @property
    def usage(self) -> Usage:
        """With what it cost by our prices, where each call was told."""
        usage, meter = self.toolbox.usage, self.meter
        return replace(usage, cost=meter.cost) if meter is not None and meter.calls else usage
