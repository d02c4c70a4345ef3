"""`cadenza whoami`, `dashboard`, `usage`, `quota` and `audit`: the tenant behind the key."""

import re
import sys
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from shutil import copyfileobj
from typing import Annotated

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit, OfJob, Since
from cadenza.cli.errors import CommandError
from cadenza.cli.lookup import find_job
from cadenza.cli.output import Column, Output
from cadenza.cli.tables import ID_LENGTHS
from cadenza.cli.terminal_text import json_text

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
SILENCE = 60.0  # seconds without a piece of an export, after which it is given up
cli = typer.Typer()
audit = group("audit", "Search and export the audit log.")
cli.add_typer(audit)


@command(cli, "whoami")
def whoami(api: Api, out: Output) -> None:
    """Show the server, tenant and user of the current key.

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
    """Print a one-time link that signs you in to the dashboard. Valid for a minute.

    Example: cadenza dashboard
    """
    link = api.post("/sign-in-links")
    url = f"{api.server.url}{link['path']}"
    out.one({**link, "url": url}, [("open within a minute", url)])


@command(cli, "usage")
def usage(api: Api, out: Output) -> None:
    """Show the tenant's size and recent run results.

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
    """Show the tokens and money left for the planner this month.

    With --job: for one job today (UTC).

    Example: cadenza quota --job shop
    """
    path = f"/jobs/{find_job(api, job)['id']}/quota" if job else "/tenant/quota"
    budget = api.get(path)
    limit, money = budget["token_limit"], budget["cost_limit"]
    lines = [
        ("day", budget["day"]) if job else ("month", budget["month"]),
        ("token limit", "none" if limit is None else f"{limit:,}"),
        ("tokens used", f"{budget['used']:,}"),
        ("tokens reserved", f"{budget['reserved']:,}"),
        ("tokens left", "" if budget["left"] is None else f"{budget['left']:,}"),
        ("money limit", "none" if money is None else f"${money:,.2f}"),
        ("money used", f"${budget['cost_used']:,.2f}"),
        ("money left", "" if money is None else f"${budget['cost_left']:,.2f}"),
    ]
    if job:
        purse = budget["extra_runs"]
        about = "(budget of detectors; use fades over two days)"
        lines.append(("extra runs", f"{purse['used']:,.0f} of {purse['size']:,.0f} {about}"))
    if budget["refused_at"] is not None:
        why = "too little is left for a session; regular schedules continue"
        lines.append(("refused", f"since {out.times.when(budget['refused_at'])}: {why}"))
    out.one(budget, lines)


def _who(actor: str, *, whole: bool) -> str:
    return actor if whole else _ID.sub(lambda found: found[0][: ID_LENGTHS[0]], actor)


@command(audit, "list")
def list_audit(
    api: Api,
    out: Output,
    actor: Annotated[str | None, typer.Option(help="Filter by who did it.")] = None,
    action: Annotated[
        str | None, typer.Option(help="Filter by action, such as endpoint.pause.")
    ] = None,
    subject: Annotated[
        str | None, typer.Option(help="Filter by the id of the affected object.")
    ] = None,
    since: Since = None,
    limit: Limit = 30,
) -> None:
    """List who did what, newest first. Needs the admin scope.

    Example: cadenza audit list --action endpoint.pause --since 1d
    """
    columns = [
        Column("when", lambda entry: out.times.relative(entry["at"])),
        Column("who", lambda entry: _who(entry["actor"], whole=out.wide)),
        Column("did", lambda entry: entry["action"]),
        Column("to", lambda entry: entry["subject"], rank=1, is_id=True),
        Column("with", lambda entry: json_text(entry["data"]), rank=2, is_text=True),
    ]
    from_at = out.times.ago("--since", since)
    query = {"actor": actor, "action": action, "subject": subject, "from": from_at}
    out.rows(api.pages("/audit", limit, query), columns, "No entries match.", limit)


class ExportFormat(StrEnum):
    NDJSON = "ndjson"
    CSV = "csv"


@command(audit, "export")
def export_audit(
    api: Api,
    out: Output,
    since: Annotated[
        str | None, typer.Option(help="Start: a time, or a duration ago such as 30d.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="End: a time, or a duration ago such as 1d.")
    ] = None,
    actor: Annotated[str | None, typer.Option(help="Filter by who did it.")] = None,
    action: Annotated[
        str | None, typer.Option(help="Filter by action, such as endpoint.pause.")
    ] = None,
    form: Annotated[ExportFormat, typer.Option("--format", help="How.")] = ExportFormat.NDJSON,
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file instead of stdout.")
    ] = None,
) -> None:
    """Export the audit log, newest first. Owners only; the export is logged too.

    Example: cadenza audit export --since 30d --format csv --to audit.csv
    """
    query = {
        "format": form,
        "actor": actor,
        "action": action,
        "from": since and out.times.ago("--since", since),
        "to": until and out.times.ago("--until", until),
    }
    with closing(api.open_stream("/audit/export", query, {}, SILENCE)) as answer:
        if to is None:
            copyfileobj(answer, sys.stdout.buffer)
            sys.stdout.flush()
            return
        try:
            with to.open("wb") as file:
                copyfileobj(answer, file)
        except OSError as error:
            raise CommandError(f"{to} could not be written: {error.strerror or error}.") from error
    out.note(f"Written to {to}.")
