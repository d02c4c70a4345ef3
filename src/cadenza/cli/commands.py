"""One way to add a command: it is given the API and the output that its parameters ask for.

`--server`, `--key` and `--json` belong to every command over the API; they are written down here
once.
"""

import inspect
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Annotated, Any, get_type_hints

import typer

from cadenza.cli.client import AdminApi, Api
from cadenza.cli.context import CliContext
from cadenza.cli.output import Output
from cadenza.cli.times import Times

ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="The server; CADENZA_API_URL, or the one that was started here.",
        rich_help_panel="Where",
        show_default=False,
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key",
        help="The key; CADENZA_API_KEY, or the one that was left here.",
        rich_help_panel="Where",
        show_default=False,
    ),
]
JsonOption = Annotated[
    bool | None,
    typer.Option(
        "--json/--table",
        help="JSON, or for people; a terminal is given the latter.",
        rich_help_panel="Where",
        show_default=False,
    ),
]
_COMMON = {"server": ServerOption, "key": KeyOption, "as_json": JsonOption}
_GIVEN = (Api, AdminApi, Output, CliContext)


def group(name: str, what: str) -> typer.Typer:
    return typer.Typer(name=name, help=what, no_args_is_help=True)


def add(
    to: typer.Typer, name: str, function: Callable[..., None], *, is_read_in_logs: bool = False
) -> None:
    """JSON where there is no terminal, unless people read there what it says, as with `apply`.

    What a root hands in comes first, bound by `functools.partial`.
    """
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    given = {each.name: each.annotation for each in parameters if each.annotation in _GIVEN}
    records: dict[str, Any] = {
        each.name: each.annotation
        for each in parameters
        if each.name not in given and is_dataclass(each.annotation)
    }
    own = [option for each in parameters if each.name not in given for option in _options(each)]

    def command(ctx: typer.Context, **options: Any) -> None:
        server, key, as_json = (options.pop(each) for each in _COMMON)
        context: CliContext = ctx.obj
        output = Output(
            Times(context.now(), context.local),
            as_json=_wants_json(as_json, is_read_in_logs=is_read_in_logs),
        )
        built: dict[type, Callable[[], object]] = {
            CliContext: lambda: context,
            Output: lambda: output,
            Api: lambda: Api(context.find_server(server, key), context.new_id),
            AdminApi: lambda: AdminApi(context.find_admin(server, key), context.new_id),
        }
        told = {each: built[kind]() for each, kind in given.items()}
        for each, kind in records.items():
            told[each] = kind(**{field.name: options.pop(field.name) for field in fields(kind)})
        function(**told, **options)

    _say_parameters(command, own)
    command.__doc__ = (function.func if isinstance(function, partial) else function).__doc__
    to.command(name)(command)


def _wants_json(given: bool | None, *, is_read_in_logs: bool) -> bool:
    if given is not None:
        return given
    return not (is_read_in_logs or sys.stdout.isatty())


def _options(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """The fields of a dataclass are options that several commands have in common."""
    kind = parameter.annotation
    if not is_dataclass(kind):
        return [parameter]
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[each.name],
            default=each.default,
        )
        for each in fields(kind)
    ]


def _say_parameters(command: Callable[..., None], own: list[inspect.Parameter]) -> None:
    """Typer reads the options of a command from its signature."""
    kind = inspect.Parameter.KEYWORD_ONLY
    shown = [
        inspect.Parameter("ctx", kind, annotation=typer.Context),
        *(each.replace(kind=kind) for each in own),
        *(
            inspect.Parameter(each, kind, annotation=annotation, default=None)
            for each, annotation in _COMMON.items()
        ),
    ]
    command.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in shown}
