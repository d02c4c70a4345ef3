"""Accounts, their keys and ledger, and grants, at the command line."""

import csv
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from cadenza.cli.money import credits_text, dollars
from cadenza.domain.billing import Charge, TokenUsage
from tests.backends import MemoryBackend, PostgresBackend
from tests.cli.support import Person

SECRET = "sk-of-a-provider-0123456789"
NARROW = 80


def _charge(
    person: Person, account: dict[str, str], cost: int = 1_500_000, model: str = "small"
) -> None:
    tenant_id = UUID(person.gets("whoami")["tenant_id"])
    charge = Charge(
        UUID(account["id"]),
        tenant_id,
        uuid4(),
        1,
        "1",
        model,
        TokenUsage(1000, 200),
        cost,
        graph_id="langgraph:poet",
    )

    async def add() -> None:
        async with person.site.backend.store.transaction() as tx:
            await tx.add_charge(charge)

    person.site.wait_for(add())


@pytest.mark.parametrize(
    ("credits", "text"),
    [
        (0, "$0.00"),
        (15, "$0.000015"),
        (1_250_000, "$1.25"),
        (-500_000, "-$0.50"),
        (10**15, "$1,000,000,000.00"),
    ],
)
def test_credits_are_told_in_dollars_to_the_credit(credits: int, text: str) -> None:  # noqa: A002
    assert dollars(credits) == text
    assert credits_text(credits) == f"{credits:,} credits ({text})"


def test_an_account_is_made_paid_used_and_proven(person: Person, tmp_path: Path) -> None:
    assert "cadenza accounts create NAME" in person.says("accounts", "list")
    assert "top-up research" in person.says("accounts", "create", "research")
    payment = ("accounts", "top-up", "research", "1000000", "--reference", "invoice-1")
    for _ in range(2):
        assert "1,000,000 credits ($1.00)" in person.says(*payment)
    account = person.gets("accounts", "show", "research")
    _charge(person, account)
    assert "-500,000 credits (-$0.50)" in person.says("accounts", "show", "research")
    assert "-$0.50" in person.says("accounts", "list")
    ledger = person.says("accounts", "ledger", "research")
    assert "-1,500,000" in ledger
    assert "invoice-1" in ledger
    taken = person.cadenza("accounts", "top-up", "research", "--json", "--", "-5")
    assert taken.json["balance"] == -500_005
    assert "langgraph:poet" in person.says("accounts", "usage", "research", "--by", "graph")
    file = tmp_path / "usage.csv"
    usage = ("accounts", "usage", "research", "--by", "model", "--since", "1d", "--csv", file)
    assert "Wrote 1 rows" in person.says(*usage)
    (row,) = csv.DictReader(file.read_text().splitlines())
    assert (row["model"], row["input_tokens"], row["dollars"]) == ("small", "1000", "1.50")
    assert person.cadenza(*usage).code == 1, "a file that is there stays"
    assert "right" in person.says("ledger", "verify")
    assert person.gets("ledger", "verify", "research")["is_right"]


def test_no_name_in_a_csv_file_of_usage_is_a_formula(person: Person, tmp_path: Path) -> None:
    account = person.gets("accounts", "create", "sheets")
    _charge(person, account, model='=HYPERLINK("http://evil.example")')
    _charge(person, account, model="＝1+1")
    _charge(person, account, model="plain")
    file = tmp_path / "usage.csv"
    person.says("accounts", "usage", "sheets", "--by", "model", "--csv", file)
    models = {row["model"] for row in csv.DictReader(file.read_text().splitlines())}
    assert models == {'\'=HYPERLINK("http://evil.example")', "'＝1+1", "plain"}


def test_a_ledger_that_is_wrong_is_named_and_ends_with_1(person: Person) -> None:
    person.gets("accounts", "create", "honest")
    account = person.gets("accounts", "create", "cooked")
    person.gets("accounts", "top-up", "cooked", "100")
    account_id, backend = UUID(account["id"]), person.site.backend
    if isinstance(backend, PostgresBackend):
        statement = "UPDATE accounts SET balance = 7 WHERE id = $1"
        person.site.wait_for(backend.execute(statement, account_id))
    else:
        assert isinstance(backend, MemoryBackend)
        before = backend.tables.accounts[account_id]
        backend.tables.accounts[account_id] = type(before)(
            before.id, before.tenant_id, before.name, 7, before.created_at
        )
    done = person.cadenza("ledger", "verify", "--table")
    assert done.code == 1
    assert "cooked" in done.err
    assert "honest" not in done.err
    assert "its ledger comes to 100" in done.out


def test_a_providers_key_comes_from_a_variable_or_a_question_and_is_not_shown(
    person: Person,
) -> None:
    person.gets("accounts", "create", "research")
    assert "create-key" in person.says("accounts", "keys", "research")
    person.environment["PROVIDER_KEY"] = SECRET
    create = ("accounts", "create-key", "research")
    said = person.says(*create, "main", "--secret", "${PROVIDER_KEY}")
    assert "…6789" in said
    assert "Calls are made with it." in said
    asked = person.cadenza(*create, "spare", "--table", stdin=f"{SECRET}\n")
    assert asked.code == 0, asked.err
    assert "not the default" in asked.out
    listed = person.says("accounts", "keys", "research")
    assert "https://api.openai.com/v1" in listed
    assert SECRET not in said + asked.out + asked.err + listed
    assert "with the key spare" in person.says("accounts", "default-key", "research", "spare")
    assert "Revoked the key main" in person.says("accounts", "revoke-key", "research", "main", "-y")
    written = person.cadenza(*create, "bad", "--secret", SECRET)
    assert written.code == 2
    assert SECRET not in written.err
    assert person.cadenza(*create, "bad", "--secret", "${NOT_SET}").code == 2


def test_a_grant_is_made_shown_and_revoked(person: Person) -> None:
    person.gets("accounts", "create", "research")
    assert "cadenza grants create" in person.says("grants", "list")
    graphs = ("--graph", "langgraph:poet", "--graph", "*")
    made = person.gets("grants", "create", "--account", "research", *graphs, "--expires", "90d")
    assert made["scopes"] == ["graph:execute:langgraph:poet", "graph:execute:*"]
    assert "in 90 days" in person.says("grants", "list")
    shown = person.says("grants", "show", made["id"])
    assert "langgraph:poet" in shown
    assert "none" in shown
    assert "Revoked" in person.says("grants", "revoke", made["id"], "--yes")
    assert person.gets("grants", "show", made["id"])["state"] == "revoked"
    assert person.cadenza("grants", "show", str(uuid4())).code == 3
    assert person.cadenza("grants", "create", "--account", "nobody", "--graph", "x:y").code == 3


def test_tables_are_readable_on_a_narrow_terminal(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cadenza.cli.output.WIDE", NARROW)
    person.environment["COLUMNS"] = str(NARROW)
    account = person.gets("accounts", "create", "research")
    person.gets("accounts", "top-up", "research", "5000000")
    _charge(person, account)
    person.gets("grants", "create", "--account", "research", "--graph", "langgraph:poet")
    for words, whole in (
        (("accounts", "list"), account["id"][:13]),
        (("accounts", "ledger", "research"), "-1,500,000"),
        (("accounts", "usage", "research"), "$1.50"),
        (("grants", "list"), "langgraph:poet"),
        (("ledger", "verify"), "3,500,000"),
    ):
        said = person.says(*words)
        assert whole in said, f"{words}:\n{said}"
        assert max(len(line) for line in said.splitlines()) <= NARROW
