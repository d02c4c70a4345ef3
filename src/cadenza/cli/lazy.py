"""Commands that load what they need only when they are called, so that help comes at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from cadenza.domain.errors import InstallationError


@dataclass(frozen=True, slots=True)
class Later:
    """A module whose `cli` is or has the command, and what help says of it."""

    module: str
    help: str
    panel: str


class LazyGroup(TyperGroup):
    later: Mapping[str, Later] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, command in self.later.items():
            self.add_command(TyperCommand(name, help=command.help, rich_help_panel=command.panel))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """What was only a name so far becomes the command itself."""
        if args and (command := self.later.get(args[0])) is not None:
            self.add_command(loaded(args[0], command))
        return super().resolve_command(ctx, args)


def loaded(name: str, command: Later) -> Any:
    """InstallationError where a library is missing that comes with an extra."""
    try:
        module = import_module(command.module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "cadenza":
            raise
        raise InstallationError(
            f"`cadenza {name}` needs more than is installed ({error.name}): "
            "pip install 'cadenza[server,embedded]'"
        ) from error
    group = get_group(module.cli)
    return group if group.name == name else group.commands[name]
