"""What planners may do with a job: as options that a person writes, and as it is shown."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from cadenza.cli.endpoint_fields import NONE
from cadenza.cli.errors import usage
from cadenza.manifest.yaml_scalars import plain_value

_TEXTS = ("model", "prompt", "account")
Planner = Annotated[
    list[str] | None,
    typer.Option(
        "--planner",
        metavar="NAME=VALUE",
        help="What planners may do: rules, detectors, llm (off, advise, act), relax, extra_runs, "
        "max_pause, min_gap, model, prompt, tokens_per_day, money_per_day, tokens_per_session, "
        "account; NAME=none takes one away; several.",
    ),
]


def planner_of(options: Sequence[str] | None) -> dict[str, Any]:
    """By the names of the API; a word alone is the mode of all three."""
    planner: dict[str, Any] = {}
    for option in options or ():
        name, sign, value = option.partition("=")
        if not sign:
            name, value = "mode", option
        if not value:
            raise usage(f"--planner {option}: write NAME=VALUE, like llm=advise, or NAME=none.")
        planner[name.strip()] = _value(name.strip(), value)
    return planner


def _value(name: str, text: str) -> Any:
    if text in (NONE, NONE.upper()):
        return None
    try:
        return text if name in _TEXTS else plain_value(text)
    except ValueError as error:
        raise usage(f"--planner {name}={text}: {error}.") from error


def planner_lines(planner: Mapping[str, Any]) -> str:
    """One a line, without what nobody has set."""
    return "\n".join(
        f"{name}: {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in planner.items()
        if value is not None
    )
