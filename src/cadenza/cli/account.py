"""`cadenza whoami`, `dashboard`, `usage`, `quota` and `audit`: the tenant behind the key."""

from typing import Annotated

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit, OfJob, Since
from cadenza.cli.lookup import find_job
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import json_text

cli = typer.Typer()
audit = group("audit", "The audit log: who did what.")
cli.add_typer(audit)


@command(cli, "whoami")
def whoami(api: Api, out: Output) -> None:
    """Say which server, tenant and user the key belongs to.

    Example: cadenza whoami
    """
    me = api.get("/me")
    lines = [
        ("server", api.server.url),
        ("tenant", me["tenant_name"]),
        ("user", me["user_name"]),
        ("scopes", ", ".join(me["scopes"])),
        ("key from", api.server.key_from),
    ]
    out.one({**me, "server": api.server.url}, lines)


@command(cli, "dashboard")
def dashboard(api: Api, out: Output) -> None:
    """Print a link that opens the dashboard, signed in; it works once, for a minute.

    Example: cadenza dashboard
    """
    link = api.post("/sign-in-links")
    url = f"{api.server.url}{link['path']}"
    out.one({**link, "url": url}, [("open within a minute", url)])


@command(cli, "usage")
def usage(api: Api, out: Output) -> None:
    """Show what the tenant has, and how its runs ended.

    Example: cadenza usage
    """
    used = api.get("/tenant/usage")
    lines = [
        ("jobs", f"{used['jobs']:,}"),
        ("endpoints", f"{used['endpoints']:,}"),
        ("last hour", _counts(used["last_hour"])),
        ("last day", _counts(used["last_day"])),
        ("tokens this month", f"{used['tokens_this_month']:,}"),
    ]
    out.one(used, lines)


def _counts(counts: dict[str, int]) -> str:
    statuses = ("success", "failure", "timeout", "cancelled", "running")
    parts = ", ".join(f"{counts[status]:,} {status}" for status in statuses if counts[status])
    return parts or "no runs"


@command(cli, "quota")
def quota(api: Api, out: Output, job: OfJob = None) -> None:
    """Show how many tokens, and how much money, are left for analysis this month.

    With --job: for one job today (UTC).

    Example: cadenza quota --job shop
    """
    path = f"/jobs/{find_job(api, job)['id']}/quota" if job else "/tenant/quota"
    budget = api.get(path)
    limit, money = budget["token_limit"], budget["cost_limit"]
    lines = [
        ("day", budget["day"]) if job else ("month", budget["month"]),
        ("limit", "none" if limit is None else f"{limit:,}"),
        ("used", f"{budget['used']:,}"),
        ("reserved", f"{budget['reserved']:,}"),
        ("left", "" if budget["left"] is None else f"{budget['left']:,}"),
        ("money", "no limit" if money is None else f"{money:,.2f}"),
        ("money used", f"{budget['cost_used']:,.2f}"),
        ("money left", "" if money is None else f"{budget['cost_left']:,.2f}"),
    ]
    if budget["refused_at"] is not None:
        why = "too little is left for a session; the baseline goes on"
        lines.append(("refused", f"since {budget['refused_at']}: {why}"))
    out.one(budget, lines)


@command(audit, "list")
def list_audit(
    api: Api,
    out: Output,
    actor: Annotated[str | None, typer.Option(help="A piece of who did it.")] = None,
    action: Annotated[str | None, typer.Option(help="Like endpoint.pause.")] = None,
    subject: Annotated[str | None, typer.Option(help="The id of what it was done to.")] = None,
    since: Since = None,
    limit: Limit = 30,
) -> None:
    """List who did what, the newest first; for keys with the scope admin.

    Example: cadenza audit list --action endpoint.pause --since 1d
    """
    columns = [
        Column("when", lambda entry: out.times.relative(entry["at"])),
        Column("who", lambda entry: entry["actor"], is_text=True),
        Column("did", lambda entry: entry["action"]),
        Column("to", lambda entry: entry["subject"], rank=1, is_id=True),
        Column("with", lambda entry: json_text(entry["data"]), rank=2, is_text=True),
    ]
    from_at = out.times.ago("--since", since)
    query = {"actor": actor, "action": action, "subject": subject, "from": from_at}
    out.rows(api.pages("/audit", limit, query), columns, "Nobody did anything that fits.")
