"""The commands that work on files and need no server, with what they need to check them."""

import os

import typer

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.system.clock import wall_clock
from cadenza.cli import import_crontab, validate
from cadenza.manifest.checking import Checks
from cadenza.roots.validation_policy import validation_policy


def checks() -> Checks:
    """Whether commands are allowed, and which ports are closed, is a matter of the server."""
    return Checks(validation_policy(shell_allowed=True), CronsimCron(), wall_clock())


def register(app: typer.Typer) -> None:
    validate.register(app, checks, os.environ)
    import_crontab.register(app, checks)
