"""`cadenza jobs` and `cadenza endpoints`, with what ends both."""

import typer

from cadenza.cli import archive, endpoints, jobs

cli = typer.Typer()
cli.add_typer(jobs.cli)
cli.add_typer(endpoints.cli)
__all__ = ["archive", "cli"]
