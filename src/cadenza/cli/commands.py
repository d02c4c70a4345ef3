"""One way to add a command: it gets the API and the output that its parameters ask for.

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
        help="JSON, or for people; a terminal gets the latter.",
        rich_help_panel="Where",
        show_default=False,
    ),
]
_COMMON = {"server": ServerOption, "key": KeyOption, "as_json": JsonOption}
_INJECTED = (Api, AdminApi, Output, CliContext)


def group(name: str, what: str) -> typer.Typer:
    return typer.Typer(name=name, help=what, no_args_is_help=True)


def add(
    to: typer.Typer, name: str, function: Callable[..., None], *, is_read_in_logs: bool = False
) -> None:
    """JSON where there is no terminal, unless people read there what it says, as with `apply`.

    What a root hands in comes first, bound by `functools.partial`.
    """
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    kinds: dict[str, Any] = {parameter.name: parameter.annotation for parameter in parameters}
    injected = {name: kind for name, kind in kinds.items() if kind in _INJECTED}
    records: dict[str, Any] = {
        name: kind for name, kind in kinds.items() if name not in injected and is_dataclass(kind)
    }
    own = [
        option
        for parameter in parameters
        if parameter.name not in injected
        for option in _options(parameter)
    ]

    def command(ctx: typer.Context, **options: Any) -> None:
        server, key, as_json = (options.pop(name) for name in _COMMON)
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
        arguments = {name: built[kind]() for name, kind in injected.items()}
        for name, kind in records.items():
            arguments[name] = kind(
                **{field.name: options.pop(field.name) for field in fields(kind)}
            )
        function(**arguments, **options)

    _set_signature(command, own)
    command.__doc__ = (function.func if isinstance(function, partial) else function).__doc__
    to.command(name)(command)


def _wants_json(asked: bool | None, *, is_read_in_logs: bool) -> bool:
    if asked is not None:
        return asked
    return not (is_read_in_logs or sys.stdout.isatty())


def _options(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """The fields of a dataclass are options that several commands have in common."""
    kind = parameter.annotation
    if not is_dataclass(kind):
        return [parameter]
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=field.default,
        )
        for field in fields(kind)
    ]


def _set_signature(command: Callable[..., None], own: list[inspect.Parameter]) -> None:
    """Typer reads the options of a command from its signature."""
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("ctx", kind, annotation=typer.Context),
        *(parameter.replace(kind=kind) for parameter in own),
        *(
            inspect.Parameter(name, kind, annotation=annotation, default=None)
            for name, annotation in _COMMON.items()
        ),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
