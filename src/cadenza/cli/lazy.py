"""Commands that load what they need only when they are called, so that help comes at once."""

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from cadenza.cli.parameters import explained, show_plain_types
from cadenza.domain.errors import InstallationError

EXTRAS = {"mcp": "mcp", "mcp_types": "mcp"}  # by the library that is missing


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

    def invoke(self, ctx: Any) -> Any:
        """A value that is not valid is named in the error, whichever command it was given to."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            raise explained(error) from error.__cause__

    def get_params(self, ctx: Any) -> list[Any]:
        return _with_plain_types(super().get_params(ctx))


def loaded(name: str, command: Later) -> Any:
    """InstallationError where a library is missing that comes with an extra."""
    try:
        module = _imported(command.module)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library == "cadenza":
            raise
        extra = EXTRAS.get(library, "server,embedded")
        raise InstallationError(
            f"`cadenza {name}` needs more than is installed ({error.name}): "
            f"pip install 'cadenza[{extra}]'"
        ) from error
    group = get_group(module.cli)
    made = group if group.name == name else group.commands[name]
    _prepare_help(made)
    return made


def _prepare_help(command: Any) -> None:
    """It breaks where the terminal does, not where the source does."""
    if command.help:
        paragraphs = command.help.split("\n\n")
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    listed = command.get_params

    def get_params(ctx: Any) -> list[Any]:
        return _with_plain_types(listed(ctx))

    command.get_params = get_params
    inner = getattr(command, "commands", {})
    for one in inner.values():
        _prepare_help(one)
    if inner and "Example: " not in (command.help or "") + (command.epilog or ""):
        command.epilog = next((text for one in inner.values() for text in _examples(one)), None)


def _examples(command: Any) -> list[str]:
    """A group shows that of its first command."""
    paragraphs = f"{command.help or ''}\n\n{command.epilog or ''}".split("\n\n")
    return [text for text in paragraphs if text.startswith("Example: ")]


def _with_plain_types(parameters: list[Any]) -> list[Any]:
    show_plain_types(parameters)
    return parameters


def _imported(name: str) -> ModuleType:
    """Without looking for garbage in between: of what is imported hardly anything is, and looking
    takes a tenth of a program's start."""
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.enable()
