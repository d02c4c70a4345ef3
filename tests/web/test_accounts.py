"""Accounts: credits by reference, a ledger that proves itself, keys that nobody gets to see."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.domain.billing import Charge, ModelApi, TokenUsage
from cadenza.domain.graph import GraphCaller
from tests.backends import MemoryBackend, PostgresBackend
from tests.web.support import OPERATE, READ, House, Site

SECRET = "sk-correct-horse-battery-staple"
KEY = {"name": "main", "api": "openai", "base_url": "https://api.example/v1", "secret_key": SECRET}
PAYMENT = {"credits": 5_000_000, "reason": "invoice", "reference": "invoice-1"}


async def _account(house: House, name: str = "research", **payment: Any) -> str:
    """Its path; with credits where a payment is given."""
    account = await house.done("POST", "/accounts", {"name": name})
    path = f"/accounts/{account['id']}"
    if payment:
        await house.done("POST", f"{path}/credits", {**PAYMENT, **payment})
    return path


async def _charge(site: Site, path: str, unit: str = "1", cost: int = 40) -> None:
    account_id, tenant_id = UUID(path.rpartition("/")[2]), site.ours.tenant_id
    usage = TokenUsage(30, 10)
    charge = Charge(account_id, tenant_id, UUID(int=7), 1, unit, "small", usage, cost)
    async with site.backend.store.transaction() as tx:
        await tx.add_charge(charge)


async def _problem(house: House, method: str, path: str, body: Any) -> tuple[int, str]:
    """The status, and the first field that is named."""
    answer = await house.ask(method, path, json=body)
    return answer.status_code, answer.json()["errors"][0]["field"]


# --- Credits ----------------------------------------------------------------------------------


async def test_an_account_begins_with_nothing_and_has_its_own_name(site: Site) -> None:
    account = await site.ours.done("POST", "/accounts", {"name": "research"})
    assert account["balance"] == 0
    again = await site.ours.ask("POST", "/accounts", json={"name": "research"})
    assert again.status_code == 409
    assert again.json()["errors"][0]["field"] == "name"
    await site.theirs.done("POST", "/accounts", {"name": "research"})
    listed = await site.ours.done("GET", "/accounts", params={"name": "research"})
    assert [each["id"] for each in listed["items"]] == [account["id"]]


async def test_accounts_are_listed_in_pages_by_name(site: Site) -> None:
    for name in ("c", "a", "b"):
        await _account(site.ours, name)
    page = await site.ours.done("GET", "/accounts", params={"limit": 2})
    rest = await site.ours.done("GET", "/accounts", params={"limit": 2, "cursor": page["next"]})
    assert [each["name"] for each in page["items"] + rest["items"]] == ["a", "b", "c"]
    assert rest["next"] is None


async def test_the_same_create_makes_one_account(site: Site) -> None:
    headers = {"Idempotency-Key": "once"}
    first, second = [
        await site.ours.ask("POST", "/accounts", json={"name": "research"}, headers=headers)
        for _ in range(2)
    ]
    assert first.json() == second.json()
    assert second.headers["Idempotent-Replayed"] == "true"


async def test_credits_are_added_once_for_a_reference(site: Site) -> None:
    path = await _account(site.ours)
    first = await site.ours.ask("POST", f"{path}/credits", json=PAYMENT)
    again = await site.ours.ask("POST", f"{path}/credits", json=PAYMENT)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (await site.ours.done("GET", path))["balance"] == 5_000_000
    other = {**PAYMENT, "credits": 1}
    assert await _problem(site.ours, "POST", f"{path}/credits", other) == (422, "reference")


async def test_of_many_payments_with_the_same_reference_at_once_one_counts(site: Site) -> None:
    path = await _account(site.ours)
    sent = (site.ours.ask("POST", f"{path}/credits", json=PAYMENT) for _ in range(10))
    assert {answer.status_code for answer in await asyncio.gather(*sent)} == {201}
    assert (await site.ours.done("GET", path))["balance"] == 5_000_000


async def test_credits_may_be_taken_away_and_a_debt_is_shown(site: Site) -> None:
    path = await _account(site.ours, credits=100)
    taken = {"credits": -250, "reason": "a mistake", "reference": "correction-1"}
    entry = await site.ours.done("POST", f"{path}/credits", taken)
    assert (entry["credits"], entry["balance"]) == (-250, -150)
    assert (await site.ours.done("GET", path))["balance"] == -150


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("credits", 0),
        ("credits", 5.0),
        ("credits", 1.5),
        ("credits", "5"),
        ("credits", True),
        ("credits", 10**15 + 1),
        ("credits", -(10**15) - 1),
        ("reason", ""),
        ("reason", "charge"),
        ("reason", " CHARGE "),
        ("reason", "a\u202eb"),
        ("reference", "7b1c/1/1"),
        ("reference", ""),
        ("reference", "a\n"),
        ("reference", "é"),
        ("reference", "x" * 101),
    ],
)
async def test_what_is_no_payment_is_refused_by_its_field(
    site: Site, field: str, value: object
) -> None:
    path = await _account(site.ours)
    body = {**PAYMENT, field: value}
    assert await _problem(site.ours, "POST", f"{path}/credits", body) == (422, field)
    assert (await site.ours.done("GET", f"{path}/ledger"))["items"] == []


async def test_a_balance_stays_within_what_can_be_counted(site: Site) -> None:
    path = await _account(site.ours, credits=10**15)
    more = {**PAYMENT, "credits": 1, "reference": "one-more"}
    assert await _problem(site.ours, "POST", f"{path}/credits", more) == (422, "credits")


async def test_unicode_in_names_and_reasons_is_kept(site: Site) -> None:
    path = await _account(site.ours, "Forschung 研究 🎻", reason="Zahlung für März ✓")
    (entry,) = (await site.ours.done("GET", f"{path}/ledger"))["items"]
    assert entry["reason"] == "Zahlung für März ✓"
    assert (await site.ours.done("GET", path))["name"] == "Forschung 研究 🎻"


async def test_only_admins_move_money_and_touch_keys(site: Site) -> None:
    path = await _account(site.ours)
    for method, where, body in (
        ("POST", "/accounts", {"name": "other"}),
        ("POST", f"{path}/credits", PAYMENT),
        ("POST", f"{path}/keys", KEY),
        ("GET", f"{path}/keys", None),
    ):
        answer = await site.ours.ask(method, where, OPERATE, json=body)
        assert answer.status_code == 403, f"{method} {where}"
    for where in (path, f"{path}/ledger", f"{path}/ledger/verify", f"{path}/usage"):
        assert (await site.ours.ask("GET", where, READ)).status_code == 200, where


# --- Ledger and usage -------------------------------------------------------------------------


async def test_the_ledger_is_listed_in_pages_with_the_balance_after_each(site: Site) -> None:
    path = await _account(site.ours, credits=100)
    for number in range(4):
        await _charge(site, path, str(number), 10)
    page = await site.ours.done("GET", f"{path}/ledger", params={"limit": 3})
    query = {"limit": 3, "cursor": page["next"]}
    rest = await site.ours.done("GET", f"{path}/ledger", params=query)
    assert [each["balance"] for each in page["items"] + rest["items"]] == [60, 70, 80, 90, 100]
    assert rest["next"] is None


async def test_usage_is_told_by_group_and_time(site: Site) -> None:
    path = await _account(site.ours, credits=100)
    await _charge(site, path)
    for group in ("day", "schedule", "graph", "model", "account"):
        usage = await site.ours.done("GET", f"{path}/usage", params={"group_by": group})
        (row,) = usage["items"]
        assert (row["calls"], row["input_tokens"], row["credits"]) == (1, 30, 40)
    past = {"to": "2020-01-01T00:00:00Z"}
    assert (await site.ours.done("GET", f"{path}/usage", params=past))["items"] == []
    wrong = {"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}
    assert (await site.ours.ask("GET", f"{path}/usage", params=wrong)).status_code == 422


async def _tamper(site: Site, path: str, what: str) -> None:
    """By hand, as no verb would."""
    account_id, backend = UUID(path.rpartition("/")[2]), site.backend
    if isinstance(backend, PostgresBackend):
        statement = {
            "balance": "UPDATE accounts SET balance = balance + 1 WHERE id = $1",
            "entry": "UPDATE ledger SET balance = 0 WHERE account_id = $1 AND balance = 60",
            "charge": "DELETE FROM charges WHERE account_id = $1",
            "amount": "UPDATE charges SET credits = 41 WHERE account_id = $1",
        }[what]
        await backend.execute(statement, account_id)
        return
    assert isinstance(backend, MemoryBackend)
    tables = backend.tables
    if what == "balance":
        account = tables.accounts[account_id]
        tables.accounts[account_id] = replace(account, balance=account.balance + 1)
    elif what == "entry":
        number, row = list(tables.ledger.items())[-1]
        tables.ledger[number] = replace(row, entry=replace(row.entry, balance=0))
    elif what == "charge":
        tables.charges.clear()
    else:
        reference, row = next(iter(tables.charges.items()))
        tables.charges[reference] = replace(row, charge=replace(row.charge, credits=41))


@pytest.mark.parametrize(
    ("what", "problems"),
    [
        ("balance", ["the balance is 61, its ledger comes to 60"]),
        ("entry", ["entry %d has a balance that is not the sum up to it"]),
        ("charge", ["1 entries name a charge that there is not"]),
        (
            "amount",
            [
                "1 charges have no entry of their amount",
                "1 entries name a charge that there is not",
            ],
        ),
    ],
)
async def test_a_ledger_that_was_tampered_with_does_not_verify(
    site: Site, what: str, problems: list[str]
) -> None:
    path = await _account(site.ours, credits=100)
    await _charge(site, path)
    right = await site.ours.done("GET", f"{path}/ledger/verify")
    assert (right["is_right"], right["problems"], right["entries"]) == (True, [], 2)
    await _tamper(site, path, what)
    wrong = await site.ours.done("GET", f"{path}/ledger/verify")
    newest = (await site.ours.done("GET", f"{path}/ledger"))["items"][0]["id"]
    assert not wrong["is_right"]
    assert wrong["account_name"] == "research"
    assert wrong["problems"] == [text.replace("%d", str(newest)) for text in problems]


# --- Keys for providers -----------------------------------------------------------------------


async def _provider(site: Site, path: str, api: ModelApi = ModelApi.OPENAI) -> str | None:
    """The key that a call would be made with now."""
    ids = (site.ours.tenant_id, site.ours.user_id, uuid4(), UUID(path.rpartition("/")[2]))
    billing: Any = site.backend.stores.billing
    means = await billing.means_of(GraphCaller(*ids), api)
    return None if means.provider is None else means.provider.key.value


async def test_a_key_is_never_shown_and_sealed_where_it_is_kept(site: Site) -> None:
    path = await _account(site.ours)
    created = await site.ours.ask("POST", f"{path}/keys", json=KEY)
    assert created.json()["hint"] == SECRET[-4:]
    listed = await site.ours.ask("GET", f"{path}/keys")
    audit = await site.ours.ask("GET", "/audit")
    contents = str(await site.contents())
    for text in (created.text, listed.text, audit.text, contents):
        assert SECRET not in text
        assert SECRET[3:] not in text
    assert await _provider(site, path) == SECRET


async def test_the_first_key_of_an_api_is_its_default_and_another_may_take_its_place(
    site: Site,
) -> None:
    path = await _account(site.ours)
    first = await site.ours.done("POST", f"{path}/keys", KEY)
    spare = await site.ours.done(
        "POST", f"{path}/keys", {**KEY, "name": "spare", "secret_key": "sk-spare"}
    )
    other_api = {**KEY, "name": "claude", "api": "anthropic", "secret_key": "sk-ant"}
    other = await site.ours.done("POST", f"{path}/keys", other_api)
    assert [key["is_default"] for key in (first, spare, other)] == [True, False, True]
    assert spare["hint"] == "", "four characters of a short key would tell too much"
    await site.ours.done("POST", f"{path}/keys/{spare['id']}/default")
    assert await _provider(site, path) == "sk-spare"
    assert await _provider(site, path, ModelApi.ANTHROPIC) == "sk-ant"
    third = {**KEY, "name": "third", "secret_key": "sk-third", "is_default": True}
    await site.ours.done("POST", f"{path}/keys", third)
    assert await _provider(site, path) == "sk-third"
    keys = (await site.ours.done("GET", f"{path}/keys"))["items"]
    assert [key["name"] for key in keys if key["is_default"]] == ["claude", "third"]


async def test_a_revoked_key_is_forgotten_and_nothing_takes_its_place_by_itself(
    site: Site,
) -> None:
    path = await _account(site.ours)
    key = await site.ours.done("POST", f"{path}/keys", KEY)
    await site.ours.done("POST", f"{path}/keys", {**KEY, "name": "spare"})
    revoked = await site.ours.done("DELETE", f"{path}/keys/{key['id']}")
    assert revoked["revoked_at"] is not None
    assert await _provider(site, path) is None
    assert await site.ours.done("DELETE", f"{path}/keys/{key['id']}") == revoked
    answer = await site.ours.ask("POST", f"{path}/keys/{key['id']}/default")
    assert answer.status_code == 404


async def test_many_keys_at_once_leave_one_default(site: Site) -> None:
    path = await _account(site.ours)
    wanted = ({**KEY, "name": f"key {n}", "is_default": True} for n in range(8))
    sent = (site.ours.ask("POST", f"{path}/keys", json=body) for body in wanted)
    assert {answer.status_code for answer in await asyncio.gather(*sent)} == {201}
    keys = (await site.ours.done("GET", f"{path}/keys"))["items"]
    assert [key["is_default"] for key in keys].count(True) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "ftp://api.example"),
        ("base_url", "https://user:hunter2@api.example"),
        ("base_url", "https://api.example/v1?key=1"),
        ("base_url", "https://api.example/v1#here"),
        ("base_url", "https://api.example:99999"),
        ("base_url", "api.example"),
        ("secret_key", "two words"),
        ("secret_key", f"{SECRET}\r\nX: y"),
        ("secret_key", f"{SECRET}é"),
        ("secret_key", SECRET * 1000),
        ("secret_key", {"of": SECRET}),
        ("secret_key", [SECRET]),
        ("api", "google"),
        ("name", "a/b"),
    ],
)
async def test_a_key_that_cannot_be_used_is_refused_and_not_shown(
    site: Site, field: str, value: object
) -> None:
    path = await _account(site.ours)
    answer = await site.ours.ask("POST", f"{path}/keys", json={**KEY, field: value})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field
    assert SECRET not in answer.text
    assert "hunter2" not in answer.text


async def test_a_key_of_another_account_of_ours_is_not_found(site: Site) -> None:
    path, other = await _account(site.ours), await _account(site.ours, "other")
    key = await site.ours.done("POST", f"{path}/keys", KEY)
    for method, where in (("DELETE", ""), ("POST", "/default")):
        answer = await site.ours.ask(method, f"{other}/keys/{key['id']}{where}")
        assert answer.status_code == 404
    assert await _provider(site, path) == SECRET


# --- What is left -----------------------------------------------------------------------------


async def test_what_is_done_with_accounts_is_in_the_audit_log(site: Site) -> None:
    path = await _account(site.ours, credits=100)
    key = await site.ours.done("POST", f"{path}/keys", KEY)
    spare = await site.ours.done("POST", f"{path}/keys", {**KEY, "name": "spare"})
    await site.ours.done("POST", f"{path}/keys/{spare['id']}/default")
    await site.ours.done("DELETE", f"{path}/keys/{key['id']}")
    entries = (await site.ours.done("GET", "/audit", params={"actor": "user "}))["items"]
    assert [entry["action"] for entry in reversed(entries)] == [
        "account.create",
        "account.credits",
        "virtual-key.create",
        "virtual-key.create",
        "virtual-key.default",
        "virtual-key.revoke",
    ]


async def test_a_deleted_tenant_takes_its_money_along(site: Site) -> None:
    path = await _account(site.ours, credits=100)
    await _charge(site, path)
    await site.ours.done("POST", f"{path}/keys", KEY)
    gone = await site.admin("DELETE", f"/tenants/{site.ours.tenant_id}", params={"confirm": "ours"})
    assert gone.status_code == 200
    contents = await site.contents()
    for table in ("accounts", "charges", "ledger", "virtual_keys"):
        assert contents[table] == []
