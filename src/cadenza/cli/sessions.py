"""`cadenza sessions`: what the planner did or wanted, and why."""

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
    "No sessions yet: the planner writes one where it did or wanted something.\n"
    "Ask it for a look: cadenza analyse ENDPOINT"
)
NONE_FIT = "No session fits. All of them: cadenza sessions list"
NO_SUGGESTIONS = (
    "Nothing is suggested now. The planner suggests where its mode is advise: see\n"
    "planner: {llm: advise} of a job."
)
SessionId = Annotated[str, typer.Argument(metavar="ID", help="A session's id, or how it begins.")]
cli = group("sessions", "Sessions: what the planner did or wanted, and why.")


@command(cli, "list")
def list_sessions(
    api: Api,
    out: Output,
    endpoint: OfEndpoint = None,
    job: OfJob = None,
    brain: Annotated[str | None, typer.Option(help="Like rules.")] = None,
    search: Annotated[str | None, typer.Option(help="A piece of the reasoning.")] = None,
    since: Since = None,
    limit: Limit = 20,
) -> None:
    """List the planner's sessions, the newest first.

    Example: cadenza sessions list --endpoint shop/queue --since 1d
    """
    names = EndpointNames(api)
    columns = [
        Column("when", lambda session: out.times.relative(session["started_at"])),
        Column("endpoint", lambda session: names.of(session["endpoint_id"])),
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
    out.rows(api.pages("/sessions", limit, query), columns, nothing)


@command(cli, "show")
def show_session(
    api: Api,
    out: Output,
    session_id: SessionId,
) -> None:
    """Show one session: what was read, done and thought.

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
    """List what the planner suggests where it may only advise, and can be accepted now.

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
        typer.Option(min=0, help="Which of its calls, from 0, where it suggests several."),
    ] = None,
) -> None:
    """Do what a session suggests, within the planner's bounds.

    Example: cadenza sessions accept 01990000-0000-7000-8000-000000000000
    """
    path = f"/sessions/{whole_id(api, 'session', session_id)}/accept"
    effect = api.post(path, {} if call is None else {"call": call})
    out.done(effect, f"Done: {json_text(effect['effect'])}")


def _did(session: dict[str, Any]) -> str:
    """What took effect; else what was wanted, and that it was not done."""
    done, suggested, refused = (session[name] for name in ("did", "suggested", "refused"))
    parts = [", ".join(done)] if done else []
    parts += [f"suggested: {', '.join(suggested)}"] if suggested else []
    parts += [f"refused: {', '.join(refused)}"] if refused else []
    return "; ".join(parts) or "nothing"


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
    state = "done" if call["took_effect"] else "suggested" if call["suggested"] else ""
    state = state or ("refused" if call["refusal"] else "read")
    return f"{state}: {call['tool']} {json_text(call['arguments'])} → {result}"
