"""`cadenza jobs` and `cadenza endpoints`, with what ends both."""

import typer

from cadenza.cli import archive, endpoint_matches, endpoints, jobs

cli = typer.Typer()
cli.add_typer(jobs.cli)
cli.add_typer(endpoints.cli)
endpoint_matches.register(endpoints.cli)
__all__ = ["archive", "cli"]
