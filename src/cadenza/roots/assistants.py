"""MCP beside the API in its process, where `cadenza[mcp]` is installed."""

import asyncio
from importlib.util import find_spec
from pathlib import Path

import structlog
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from cadenza.roots.documents import documents_folder
from cadenza.web.api.assistants import NOT_INSTALLED, mcp_route

log = structlog.get_logger()


class LoadedWhenAsked:
    """With the first request: it takes as long as all the rest of the API."""

    def __init__(self, app: FastAPI, documents: Path | None) -> None:
        self._app = app
        self._documents = documents
        self._loading: asyncio.Task[ASGIApp | None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(self._loaded))
        answer = await asyncio.shield(self._loading)
        if answer is None:
            raise HTTPException(404, NOT_INSTALLED)
        await answer(scope, receive, send)

    def _loaded(self) -> ASGIApp | None:
        try:
            from cadenza.mcp.http import mcp_over  # noqa: PLC0415 - an extra
        except ImportError as error:  # an older one, which somebody else needs
            log.warning("there is no /mcp: pip install 'cadenza[mcp]'", error=str(error))
            return None
        return mcp_over(self._app, self._documents)


def add_mcp(app: FastAPI) -> None:
    answer = LoadedWhenAsked(app, documents_folder()) if find_spec("mcp") is not None else None
    app.router.routes.append(mcp_route(answer))
