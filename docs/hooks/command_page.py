"""Every command with its options, as its own help says: written at the build, so that it is true."""

from collections.abc import Iterator
from typing import Any

from cadenza.cli.lazy import loaded
from cadenza.roots.commands import COMMANDS
from cadenza.web.docs.schema_words import cell, table

PATH = "reference/commands.md"
# Those of nearly all commands, told once.
COMMON = ("--help", "--server", "--key", "--json", "--wide")


def command_page() -> str:
    sections = [_section(name, command) for name, command in _commands()]
    return (
        "# Every command\n\nWritten from the program's own help (`cadenza COMMAND --help`). Nearly all "
        "commands also take `--server`, `--key`, `--json` or `--table`, and `--wide`: "
        "[The command line](cli.md) says what they mean, and what exit codes do.\n\n"
        + "\n".join(sections)
    )


def _commands() -> Iterator[tuple[str, Any]]:
    for name, later in COMMANDS.items():
        yield from _with_inner(name, loaded(name, later))


def _with_inner(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    inner: dict[str, Any] = dict(getattr(command, "commands", None) or {})
    if not inner or command.invoke_without_command:
        yield name, command
    lazy = getattr(command, "later", {})
    inner |= {own: loaded(own, lazy[own]) for own in lazy}
    for own, each in inner.items():
        yield from _with_inner(f"{name} {own}", each)


def _section(name: str, command: Any) -> str:
    words = [f"## cadenza {name}\n", _help(command)]
    shown = [each for each in command.params if not set(COMMON) & set(each.opts)]
    if shown:
        words.append(table(("argument", "about"), [_row(each) for each in shown]))
    return "\n".join(words)


def _help(command: Any) -> str:
    """Its paragraphs; the example as code."""
    text = "\n\n".join(filter(None, (command.help, command.epilog)))
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return (
        "\n\n".join(
            f"```text\n{part.removeprefix('Example: ')}\n```"
            if part.startswith("Example: ")
            else part
            for part in paragraphs
        )
        + "\n"
    )


def _row(parameter: Any) -> tuple[str, str]:
    is_argument = parameter.param_type_name == "argument"
    names = [(parameter.metavar or parameter.name).upper()] if is_argument else parameter.opts
    written = ", ".join(f"`{name}`" for name in names)
    if parameter.required:
        written += ", needed"
    about = getattr(parameter, "help", None) or ""
    default = parameter.default
    if not is_argument and default not in (None, False, [], ()) and not callable(default):
        about += f" Default `{default}`."
    return written, cell(about)
