"""`cadenza accounts`, which pay for models, and `ledger verify`."""

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import typer

from cadenza.cli.apply import write_file
from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Force, Limit
from cadenza.cli.context import CliContext
from cadenza.cli.errors import CommandError
from cadenza.cli.lookup import MOST_LOOKED_AT, find_account
from cadenza.cli.money import credits_text, dollars
from cadenza.cli.output import Column, Output
from cadenza.cli.provider_keys import add_key_commands
from cadenza.cli.terminal_text import plain, quoted
from cadenza.domain.csv_cell import csv_cell

Item = dict[str, Any]
TOP_UP = "top-up"
USED = ("calls", "estimated_calls", "input_tokens", "output_tokens")
CACHED = ("cache_read_tokens", "cache_write_tokens")
GROUPS = "day, schedule, graph, job, endpoint, model or account."
AccountName = Annotated[str, typer.Argument(metavar="ACCOUNT", help="An account's name or id.")]
cli = typer.Typer()
accounts = group("accounts", "Manage accounts that pay for model calls.")
cli.add_typer(accounts)
ledger = group("ledger", "Check account balances against their ledgers.")
cli.add_typer(ledger)


@command(accounts, "list")
def list_accounts(api: Api, out: Output, limit: Limit = 200) -> None:
    """List accounts with their balances.

    Example: cadenza accounts list
    """
    columns = [
        Column("name", lambda account: account["name"]),
        Column("credits", lambda account: f"{account['balance']:,}"),
        Column("dollars", lambda account: dollars(account["balance"])),
        Column("id", lambda account: account["id"], rank=1, is_id=True),
    ]
    nothing = "No accounts yet. Create one: cadenza accounts create NAME"
    out.rows(api.pages("/accounts", limit), columns, nothing, limit)


@command(accounts, "create")
def create_account(
    api: Api,
    out: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of your choice.")],
) -> None:
    """Create an account without credits. Needs the admin scope.

    Example: cadenza accounts create research
    """
    account = api.create("/accounts", {"name": name})
    next_step = f"cadenza accounts top-up {quoted(account['name'])} 5000000"
    out.done(account, f"Created the account {account['name']}. Next, add credits: {next_step}")


@command(accounts, "show")
def show_account(api: Api, out: Output, name: AccountName) -> None:
    """Show one account with its balance.

    Example: cadenza accounts show research
    """
    account = find_account(api, name)
    lines = [
        ("name", account["name"]),
        ("balance", credits_text(account["balance"])),
        ("created", out.times.when(account["created_at"])),
        ("id", account["id"]),
    ]
    out.one(account, lines)


@command(accounts, "top-up")
def top_up(
    api: Api,
    out: Output,
    context: CliContext,
    name: AccountName,
    credits: Annotated[  # noqa: A002
        int,
        typer.Argument(
            metavar="CREDITS", help="Credits to add (1,000,000 = $1). To deduct, write -- -5."
        ),
    ],
    reason: Annotated[str, typer.Option(help="A reason for the ledger.")] = TOP_UP,
    reference: Annotated[
        str | None, typer.Option(help="An invoice number; the same reference is booked only once.")
    ] = None,
) -> None:
    """Add credits to an account, or deduct some. Needs the admin scope.

    Example: cadenza accounts top-up research 5000000 --reference invoice-2026-03
    """
    path = f"/accounts/{find_account(api, name)['id']}/credits"
    known_as = reference or str(context.new_id())
    entry = api.create(path, {"credits": credits, "reason": reason, "reference": known_as})
    out.done(entry, f"The balance is {credits_text(entry['balance'])}.")


@command(accounts, "ledger")
def show_ledger(api: Api, out: Output, name: AccountName, limit: Limit = 30) -> None:
    """List an account's ledger entries, newest first.

    Example: cadenza accounts ledger research --limit 100
    """
    columns = [
        Column("when", lambda entry: out.times.relative(entry["at"])),
        Column("credits", lambda entry: f"{entry['credits']:+,}"),
        Column("balance", lambda entry: f"{entry['balance']:,}"),
        Column("dollars", lambda entry: dollars(entry["balance"]), rank=1),
        Column("reason", lambda entry: entry["reason"], is_text=True),
        Column("reference", lambda entry: entry["reference"], rank=2, is_text=True),
    ]
    path = f"/accounts/{find_account(api, name)['id']}/ledger"
    out.rows(api.pages(path, limit), columns, "No entries yet.", limit)


@command(accounts, "usage")
def show_usage(
    api: Api,
    out: Output,
    name: AccountName,
    by: Annotated[str, typer.Option(help=GROUPS)] = "day",
    since: Annotated[
        str | None, typer.Option(help="Start: a time, or a duration ago such as 30d.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="End: a time, or a duration ago such as 1d.")
    ] = None,
    file: Annotated[Path | None, typer.Option("--csv", help="Write a CSV file instead.")] = None,
    force: Force = False,
) -> None:
    """Show calls, tokens and credits by day, schedule, graph, job, endpoint or model.

    Example: cadenza accounts usage research --by graph --since 30d --csv usage.csv
    """
    path = f"/accounts/{find_account(api, name)['id']}/usage"
    span = {"from": out.times.ago("--since", since), "to": out.times.ago("--until", until)}
    rows: list[Item] = api.get(path, {"group_by": by, **span})["items"]
    if file is not None:
        write_file(file, _as_csv(by, rows), force=force)
        out.done({"file": str(file), "rows": len(rows)}, f"Wrote {len(rows)} rows to {file}.")
        return
    columns = [
        Column(by, lambda row: row["group"] or "–"),
        Column("calls", lambda row: f"{row['calls']:,}"),
        Column("input", lambda row: f"{row['input_tokens']:,}", rank=2),
        Column("output", lambda row: f"{row['output_tokens']:,}", rank=1),
        Column("credits", lambda row: f"{row['credits']:,}"),
        Column("dollars", lambda row: dollars(row["credits"])),
    ]
    out.rows(rows, columns, "No calls in that time.")


def _as_csv(by: str, rows: list[Item]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([by, *USED, *CACHED, "credits", "dollars"])
    for row in rows:
        counts = [row[name] for name in (*USED, *CACHED, "credits")]
        amount = dollars(row["credits"]).replace("$", "").replace(",", "")
        writer.writerow([csv_cell(plain(row["group"] or "")), *counts, amount])
    return text.getvalue()


@command(accounts, "for-planner")
def pay_for_planner(
    api: Api,
    out: Output,
    name: Annotated[
        str, typer.Argument(metavar="ACCOUNT", help="An account's name or id, or `none`.")
    ],
) -> None:
    """Choose the account that pays for LLM planners. `none`: the installation pays.

    A job that names an account (planner: {account: NAME}) has its own.

    Example: cadenza accounts for-planner research
    """
    account_id = None if name == "none" else find_account(api, name)["id"]
    tenant = api.patch("/tenant", {"planner_account_id": account_id})
    payer = "The installation pays" if account_id is None else f"The account {name} pays"
    out.done(tenant, f"{payer} for the planner's sessions.")


@command(ledger, "verify")
def verify_ledger(
    api: Api,
    out: Output,
    name: Annotated[
        str | None, typer.Argument(metavar="[ACCOUNT]", help="One account. Default: all.")
    ] = None,
) -> None:
    """Check that every balance equals the sum of its ledger. Exits 1 if not.

    Example: cadenza ledger verify
    """
    listed = [find_account(api, name)] if name else api.pages("/accounts", MOST_LOOKED_AT)
    checks = [api.get(f"/accounts/{account['id']}/ledger/verify") for account in listed]
    columns = [
        Column("account", lambda check: check["account_name"]),
        Column("entries", lambda check: f"{check['entries']:,}"),
        Column("balance", lambda check: f"{check['balance']:,}"),
        Column("ledger", lambda check: f"{check['total']:,}"),
        Column("", lambda check: "right" if check["is_right"] else "; ".join(check["problems"])),
    ]
    out.rows(checks, columns, "No accounts.")
    wrong = [plain(check["account_name"]) for check in checks if not check["is_right"]]
    if wrong:
        raise CommandError(f"The ledger does not match the balance: {', '.join(wrong)}.")


add_key_commands(accounts, find_account)
