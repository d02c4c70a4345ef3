"""`cadenza rules`, with the expressions that it judges by."""

from functools import partial

from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.cli.commands import command, group
from cadenza.cli.rules import run_rules

cli = group("rules", "Test declared rules on recorded responses.")
command(cli, "test", is_read_in_logs=True)(partial(run_rules, CelExpressions()))
