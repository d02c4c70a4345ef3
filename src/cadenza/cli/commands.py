"""One decorator for commands over the API: each gets what its parameters ask for.

`--server`, `--key`, `--json` and `--wide` belong to every command over the API; they are written
down here once.
"""

import inspect
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from cadenza.cli.client import AdminApi, Api
from cadenza.cli.context import CliContext
from cadenza.cli.output import Output
from cadenza.cli.times import Times


def panel_option(panel: str, name: str, about: str, metavar: str | None = None) -> Any:
    return typer.Option(
        name, help=about, metavar=metavar, rich_help_panel=panel, show_default=False
    )


_where = partial(panel_option, "Server and output")
_COMMON: dict[str, Any] = {
    "server": Annotated[
        str | None,
        _where(
            "--server", "The server's URL. Default: CADENZA_API_URL, or the local server.", "URL"
        ),
    ],
    "key": Annotated[
        str | None, _where("--key", "The API key. Default: CADENZA_API_KEY, or the local key.")
    ],
    "as_json": Annotated[
        bool | None,
        _where("--json/--table", "Print JSON or a table. Default: a table on a terminal."),
    ],
    "wide": Annotated[bool | None, _where("--wide", "Show all columns and full ids.")],
}
Function = TypeVar("Function", bound=Callable[..., None])
_INJECTED = (Api, AdminApi, Output, CliContext)


def group(name: str, what: str) -> typer.Typer:
    return typer.Typer(name=name, help=what, no_args_is_help=True)


def command(
    to: typer.Typer, name: str, *, is_read_in_logs: bool = False
) -> Callable[[Function], Function]:
    """JSON where there is no terminal, unless people read there what it says, as with `apply`.

    What a root hands in comes first, bound by `functools.partial`.
    """

    def add(function: Function) -> Function:
        to.command(name)(_over_api(function, is_read_in_logs=is_read_in_logs))
        return function

    return add


def _over_api(function: Callable[..., None], *, is_read_in_logs: bool) -> Callable[..., None]:
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    kinds: dict[str, Any] = {parameter.name: parameter.annotation for parameter in parameters}
    injected = {name: kind for name, kind in kinds.items() if kind in _INJECTED}
    others = [parameter for parameter in parameters if parameter.name not in injected]
    records: dict[str, Any] = {
        other.name: other.annotation for other in others if is_dataclass(other.annotation)
    }
    own = [option for parameter in others for option in _options(parameter)]

    def called(ctx: typer.Context, **options: Any) -> None:
        server, key, as_json, wide = (options.pop(name) for name in _COMMON)
        context: CliContext = ctx.obj
        if as_json is None:
            as_json = not (is_read_in_logs or sys.stdout.isatty())
        output = Output(Times(context.now(), context.local), as_json=as_json, wide=bool(wide))
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

    _set_signature(called, own)
    called.__doc__ = (function.func if isinstance(function, partial) else function).__doc__
    return called


def _options(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """The fields of a dataclass are options that several commands have in common."""
    kind = parameter.annotation
    if not is_dataclass(kind):
        return [parameter]
    hints = get_type_hints(kind)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Annotated[hints[field.name], field.metadata["option"]],
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
