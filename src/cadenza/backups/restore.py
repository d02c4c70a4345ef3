"""`cadenza restore`: a backup becomes the database of this installation."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from cadenza.adapters.postgres.backup.file import About, about_of, check_whole, keys_of, opened
from cadenza.backups.installation import Installation
from cadenza.backups.keys import bring_keys, check_keys
from cadenza.backups.restore_to import restore_to
from cadenza.backups.restoring import Plan, Restoring, check_version, planned
from cadenza.cli.asking import DryRun, Yes, ask
from cadenza.cli.errors import usage
from cadenza.cli.terminal_text import counted, json_text


def register(app: typer.Typer, read_installation: Callable[[], Installation]) -> None:
    @app.command()
    def restore(
        file: Annotated[
            Path | None, typer.Argument(help="A file written by `cadenza backup`.")
        ] = None,
        to: Annotated[
            str | None,
            typer.Option(help="Restore the embedded database to a point in time, such as 2h."),
        ] = None,
        yes: Yes = False,
        dry_run: DryRun = False,
        drop_old: Annotated[
            bool,
            typer.Option("--drop-old", help="Delete the replaced database instead of keeping it."),
        ] = False,
        without_keys: Annotated[
            bool,
            typer.Option(
                "--without-keys", help="Restore even without the master keys; secrets are lost."
            ),
        ] = False,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Restore a backup. Stop all programs first.

        A database that is not empty is kept under another name. The schema is brought to this
        version. Slots of the time in between are declared as missed when the schedulers start.

        Example: cadenza restore cadenza.backup --dry-run
        """
        installation = read_installation()
        if (file is None) is (to is None) or (to is not None and drop_old):
            raise usage("Give a backup file, or a point in time with --to.")
        if file is None:
            ways = {"yes": yes, "dry_run": dry_run, "without_keys": without_keys}
            restore_to(installation, to or "", **ways, as_json=as_json)
            return
        with opened(file) as archive:
            about = about_of(archive, file)
            check_version(about)
            check_whole(archive, file)
            check_keys(installation, about.key_ids, keys_of(archive), lost_is_fine=without_keys)
            with installation.database_url() as url:
                plan = asyncio.run(planned(installation, url, about))
                if not dry_run:
                    ask(_question(plan, about), yes=yes or not plan.target.tables)
                    restored = Restoring(plan, archive, about, drop_old=drop_old, show=not as_json)
                    asyncio.run(restored.run(installation))
                    bring_keys(installation, about.key_ids, keys_of(archive))
        _print_result(plan, about, dry_run=dry_run, drop_old=drop_old, as_json=as_json)

    del restore  # registered by its decorator


def _question(plan: Plan, about: About) -> str:
    return (
        f"The database {plan.name} is not empty ({plan.target.tables} tables). Replace it with the "
        f"backup of {about.made_at}?"
    )


def _print_result(
    plan: Plan, about: About, *, dry_run: bool, drop_old: bool, as_json: bool
) -> None:
    kept_as = plan.kept_as if plan.target.tables and not drop_old else None
    if as_json:
        result: dict[str, Any] = {"database": plan.name, "kept_as": kept_as, "dry_run": dry_run}
        typer.echo(json_text({**result, "backup": asdict(about)}))
        return
    amounts = ", ".join(counted(count, table[:-1]) for table, count in about.counts.items())
    done = "would become" if dry_run else "is"
    typer.echo(f"The database {plan.name} {done} that of {about.made_at}: {amounts}.")
    if kept_as is not None and not dry_run:
        typer.echo(f'What was there is kept as {kept_as}; DROP DATABASE "{kept_as}" ends it.')
    if not dry_run:
        typer.echo("Start the programs. Slots since the backup will be reported as missed.")
