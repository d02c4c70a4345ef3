"""Runs as the answers that a brain is shown."""

import json
from dataclasses import replace

from cadenza.domain.analysis import LONGEST_RECENT_BODY, Response
from cadenza.domain.run import Body, Run


def response_of(run: Run) -> Response:
    assert run.finished_at is not None
    return Response(
        run.slot_at, run.finished_at, run.status, run.body, run.duration, run.status_code
    )


def recent_response(run: Run) -> Response:
    """Without a body that is too long to be shown by the hundred."""
    response = response_of(run)
    return replace(response, body=None) if _is_long(run.body) else response


def _is_long(body: Body) -> bool:
    if body is None or isinstance(body, int | float):
        return False
    try:
        return len(json.dumps(body, ensure_ascii=False)) > LONGEST_RECENT_BODY
    except (RecursionError, ValueError, TypeError):
        return True  # nested without end: not a body that anybody can read
