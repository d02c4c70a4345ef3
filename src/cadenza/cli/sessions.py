"""`cadenza sessions`: what the planner did or wanted, and why."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit, OfEndpoint, OfJob, Since
from cadenza.cli.lookup import EndpointNames, find_endpoint, find_job, whole_id
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import json_text, shortened
from cadenza.cli.times import Times, duration_text
from cadenza.domain.analysis import REASONS

NO_SESSIONS = (
    "No sessions yet. The planner records one when it changes or suggests something.\n"
    "Ask for an analysis: cadenza analyse ENDPOINT"
)
NONE_FIT = "No sessions match. List all: cadenza sessions list"
NO_SUGGESTIONS = (
    "No suggestions. The planner makes suggestions where its mode is `advise`, such as\n"
    "planner: {llm: advise} in a job."
)
SessionId = Annotated[
    str, typer.Argument(metavar="ID", help="A session id, or its first 8 characters.")
]
cli = group("sessions", "List planner sessions and accept suggestions.")


@command(cli, "list")
def list_sessions(
    api: Api,
    out: Output,
    endpoint: OfEndpoint = None,
    job: OfJob = None,
    brain: Annotated[str | None, typer.Option(help="Filter by brain, such as rules.")] = None,
    search: Annotated[str | None, typer.Option(help="Search the reasoning.")] = None,
    since: Since = None,
    limit: Limit = 20,
) -> None:
    """List planner sessions, newest first.

    Example: cadenza sessions list --endpoint shop/queue --since 1d
    """
    names = EndpointNames(api)
    columns = [
        Column("when", lambda session: out.times.relative(session["started_at"])),
        Column("endpoint", lambda session: names.of(session["endpoint_id"]), is_endpoint=True),
        Column("brain", lambda session: session["brain"], rank=3),
        Column("because", lambda session: session["reason"] or "", rank=5),
        Column("did", _did, is_text=True),
        Column("times", lambda session: session["repeats"] + 1, rank=4),
        Column("ended as", lambda session: session["ended_as"], rank=2),
        Column("reasoning", lambda session: session["reasoning"], rank=1, is_text=True),
        Column("id", lambda session: session["id"], is_id=True),
    ]
    query = {
        "endpoint_id": find_endpoint(api, endpoint)["id"] if endpoint else None,
        "job_id": find_job(api, job)["id"] if job else None,
        "brain": brain,
        "search": search,
        "from": out.times.ago("--since", since),
    }
    nothing = NONE_FIT if any(query.values()) else NO_SESSIONS
    out.rows(api.pages("/sessions", limit, query), columns, nothing, limit)


@command(cli, "show")
def show_session(
    api: Api,
    out: Output,
    session_id: SessionId,
) -> None:
    """Show one planner session: tool calls, results and reasoning.

    Example: cadenza sessions show 01990000-0000-7000-8000-000000000000
    """
    session = api.get(f"/sessions/{whole_id(api, 'session', session_id)}")
    calls = [_call(call) for call in session["tool_calls"]]
    lines = [
        ("session", session["id"]),
        ("endpoint", "" if out.as_json else EndpointNames(api).of(session["endpoint_id"])),
        ("brain", session["brain"]),
        ("when", out.times.when(session["started_at"])),
        ("took", duration_text(session["duration_ms"])),
        ("repeated", _repeated(session, out.times)),
        ("because", REASONS.get(session["reason"], "")),
        ("ended as", session["ended_as"]),
        ("reasoning", session["reasoning"]),
        ("confidence", session["confidence"]),
        ("calls", "\n".join(calls) or "none"),
        ("warnings", "\n".join(session["warnings"])),
        ("tokens", _tokens(session)),
        ("cost", f"${session['cost']:.4f}" if session["tokens"] else ""),
        ("paid by", session["account_id"]),
        ("prompt", session["prompt_version"]),
        ("next look", out.times.when(session["next_analysis_at"])),
    ]
    out.one(session, lines)


@command(cli, "suggestions")
def list_suggestions(api: Api, out: Output) -> None:
    """List suggestions of planners in `advise` mode that can be accepted now.

    Example: cadenza sessions suggestions
    """
    columns = [
        Column("when", lambda suggestion: out.times.relative(suggestion["suggested_at"])),
        Column("endpoint", lambda suggestion: suggestion["endpoint"]),
        Column(
            "suggests",
            lambda suggestion: f"{suggestion['tool']} {json_text(suggestion['arguments'])}",
            is_text=True,
        ),
        Column("until", lambda suggestion: out.times.relative(suggestion["open_until"]), rank=1),
        Column("session", lambda suggestion: suggestion["session_id"], is_id=True),
        Column("call", lambda suggestion: suggestion["call"]),
    ]
    out.rows(api.get("/suggestions", {"limit": 200})["items"], columns, NO_SUGGESTIONS)


@command(cli, "accept")
def accept_suggestion(
    api: Api,
    out: Output,
    session_id: SessionId,
    call: Annotated[
        int | None,
        typer.Option(min=0, help="Which suggestion, counted from 0, if there are several."),
    ] = None,
) -> None:
    """Accept a suggestion and apply it, within the planner's limits.

    Example: cadenza sessions accept 01990000-0000-7000-8000-000000000000
    """
    path = f"/sessions/{whole_id(api, 'session', session_id)}/accept"
    effect = api.post(path, {} if call is None else {"call": call})
    out.done(effect, f"Done: {json_text(effect['effect'])}")


def _did(session: dict[str, Any]) -> str:
    """What took effect; else what was wanted, and that it was not done."""
    done, suggested, refused = (session[name] for name in ("did", "suggested", "refused"))
    parts = [_counted(done)] if done else []
    parts += [f"suggested: {_counted(suggested)}"] if suggested else []
    parts += [f"refused: {_counted(refused)}"] if refused else []
    return "; ".join(parts) or "nothing"


def _counted(tools: Sequence[str]) -> str:
    """Each once, in the order they were first called."""
    counts = Counter(tools)
    return ", ".join(f"{tool} ({count}×)" if count > 1 else tool for tool, count in counts.items())


def _repeated(session: dict[str, Any], times: Times) -> str:
    if not session["repeats"]:
        return ""
    return f"{session['repeats']} times more, last {times.when(session['last_at'])}"


def _tokens(session: dict[str, Any]) -> str:
    if not session["tokens"]:
        return ""
    parts = ("input", session["input_tokens"]), ("cached", session["cached_tokens"])
    split = [f"{count:,} {name}" for name, count in (*parts, ("output", session["output_tokens"]))]
    return f"{session['tokens']:,} ({', '.join(split)})"


def _call(call: dict[str, Any]) -> str:
    result = shortened(json_text(call["result"]), 300)
    return f"{_state(call)}: {call['tool']} {json_text(call['arguments'])} → {result}"


def _state(call: dict[str, Any]) -> str:
    if call["took_effect"]:
        return "done"
    if call["suggested"]:
        return "suggested"
    if call["refusal"]:
        return "refused"
    if call["tool"] == "submit_analysis":
        return "submitted"
    return "read" if call["tool"].startswith("get_") else "no change"
