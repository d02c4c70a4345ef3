"""`cadenza sim`, with what it plays declared rules by."""

import typer

from cadenza.roots.brain import rules_brain
from cadenza.roots.examples import example_job
from cadenza.sim import command
from cadenza.sim.scenarios import DeclaredRules

cli = typer.Typer()
command.register(cli, DeclaredRules(rules_brain, example_job))
