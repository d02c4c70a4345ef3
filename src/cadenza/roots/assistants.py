"""MCP beside the API in its process, where `cadenza[mcp]` is installed."""

from importlib.util import find_spec

import structlog
from fastapi import FastAPI

from cadenza.client.asgi_transport import Application
from cadenza.roots.documents import documents_folder
from cadenza.web.api.assistants import mcp_route

log = structlog.get_logger()


def add_mcp(app: FastAPI) -> None:
    app.router.routes.append(mcp_route(_answer(app)))


def _answer(app: FastAPI) -> Application | None:
    if find_spec("mcp") is None:
        return None
    try:
        from cadenza.mcp.http import mcp_over  # noqa: PLC0415 - an extra
    except ImportError as error:  # an older one, which somebody else needs
        log.warning("there is no /mcp: pip install 'cadenza[mcp]'", error=str(error))
        return None
    return mcp_over(app, documents_folder())
