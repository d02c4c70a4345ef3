"""`cadenza doctor`, with the settings of here, and the variables that they were read from."""

import os
from collections.abc import Iterator
from functools import partial

import typer

from cadenza.doctor import command
from cadenza.doctor import settings as settings_checks
from cadenza.doctor.checks import Check
from cadenza.doctor.command import Installation
from cadenza.roots.cli_context import find_server
from cadenza.roots.program import opened_database
from cadenza.roots.settings import Settings, read_settings, variables_of


def check_settings(settings: Settings) -> Iterator[Check]:
    known = {variable for name in Settings.model_fields for variable in variables_of(name)}
    return settings_checks.check_settings(settings, known, os.environ)


def _installation() -> Installation:
    settings = read_settings()
    return Installation(
        settings,
        check_settings=partial(check_settings, settings),
        open_database=partial(opened_database, settings),
        find_server=partial(find_server, None, None),
    )


cli = typer.Typer()
command.register(cli, _installation)
