"""`cadenza demo`, with its brain and its job."""

import typer

from cadenza.demo import command
from cadenza.roots.brain import rules_brain
from cadenza.roots.examples import example_job

cli = typer.Typer()
command.register(cli, rules_brain, lambda: example_job("demo.yaml"))
