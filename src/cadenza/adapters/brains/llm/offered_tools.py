"""The eight tools as a model is offered them. The Toolbox checks every call again by itself."""

from typing import Any

from pydantic_ai.tools import ToolDefinition

from cadenza.domain.bounds import MAX_INTERVAL, MAX_NEXT_ANALYSIS, MIN_INTERVAL, MIN_NEXT_ANALYSIS
from cadenza.domain.instants import milliseconds

Schema = dict[str, Any]

_ENDPOINT: Schema = {
    "type": "string",
    "description": "The name of a sibling in the same job. Leave it out for the analysed endpoint.",
}
_REASON: Schema = {"type": "string", "description": "One sentence for the owner: what, and why."}
_INSTANT: Schema = {"type": "string", "description": "Like 2026-01-31T12:00:00Z."}
_COMMON = {"reason": _REASON, "endpoint": _ENDPOINT}


def _tool(name: str, description: str, required: tuple[str, ...] = (), **fields: Schema) -> Any:
    schema = {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }
    # Not strict: that would make every argument required, and some of these exclude each other.
    return ToolDefinition(
        name=name, parameters_json_schema=schema, description=description, strict=False
    )


def _ttl(default: int) -> Schema:
    return {
        "type": "number",
        "description": f"How many minutes the hint lives; {default} if left out, 1 to 240 mostly.",
    }


OFFERED: tuple[ToolDefinition, ...] = (
    _tool(
        "get_latest_response",
        "The latest response of the analysed endpoint: time, status, error, duration, body.",
    ),
    _tool(
        "get_response_history",
        "Earlier responses of the analysed endpoint, newest first.",
        limit={"type": "integer", "minimum": 1, "maximum": 10, "description": "10 if left out."},
        offset={"type": "integer", "minimum": 0, "description": "How many to pass over."},
    ),
    _tool(
        "get_sibling_latest_responses",
        "The other endpoints of the job by name: latest response, schedule and hints of each.",
        limit={"type": "integer", "minimum": 1, "maximum": 50, "description": "20 if left out."},
        offset={"type": "integer", "minimum": 0, "description": "How many to pass over."},
    ),
    _tool(
        "propose_interval",
        "Run at this interval instead of the baseline until the hint expires.",
        ("interval_ms", "reason"),
        interval_ms={
            "type": "integer",
            "minimum": milliseconds(MIN_INTERVAL),
            "maximum": milliseconds(MAX_INTERVAL),
        },
        ttl_minutes=_ttl(60),
        **_COMMON,
    ),
    _tool(
        "propose_next_time",
        "Run once at an instant. Give next_run_at_iso or next_run_in_ms, not both; 0 ms is now.",
        ("reason",),
        next_run_at_iso=_INSTANT,
        next_run_in_ms={"type": "integer", "minimum": 0},
        ttl_minutes=_ttl(30),
        **_COMMON,
    ),
    _tool(
        "pause_until",
        "No run before an instant. With null, a pause that you set before ends now.",
        ("until_iso", "reason"),
        until_iso={"anyOf": [_INSTANT, {"type": "null"}]},
        **_COMMON,
    ),
    _tool(
        "clear_hints",
        "Take back your hints, so that the baseline returns now.",
        ("reason",),
        **_COMMON,
    ),
    _tool(
        "submit_analysis",
        "Ends the session. Always the last call, also where nothing was done.",
        ("reasoning", "next_analysis_in_ms"),
        reasoning={"type": "string", "description": "What you saw and why you acted, or did not."},
        confidence={"type": "number", "minimum": 0, "maximum": 1},
        actions_taken={"type": "array", "items": {"type": "string"}},
        next_analysis_in_ms={
            "type": "integer",
            "minimum": milliseconds(MIN_NEXT_ANALYSIS),
            "maximum": milliseconds(MAX_NEXT_ANALYSIS),
            "description": "When to look again, though nothing fails and no sibling changes.",
        },
    ),
)
NAMES = frozenset(tool.name for tool in OFFERED)
