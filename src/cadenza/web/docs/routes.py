"""`/docs`: for everybody, for there is nothing of a tenant in it."""

import asyncio
import json

from fastapi import APIRouter, FastAPI, Request
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, RedirectResponse, Response

from cadenza.web.dashboard.assets import Asset, asset_of, asset_response
from cadenza.web.dashboard.policy import HEADERS
from cadenza.web.dashboard.rendering import page
from cadenza.web.docs.generated import generated_pages
from cadenza.web.docs.lazy import Lazy
from cadenza.web.docs.site import FOLDER, BuiltSite
from cadenza.web.docs.source import SourcePages

routes = APIRouter()


class Documentation:
    """What is shown at `/docs`, and the OpenAPI document. None of it needs a key, so that none may
    cost the loop more than the sending, however many ask."""

    def __init__(self, api: FastAPI) -> None:
        self._api = api
        self.site = Lazy(lambda: BuiltSite(FOLDER))
        self.source = Lazy(self._source)
        self.openapi = Lazy(self._openapi)

    def _source(self) -> SourcePages:
        return SourcePages.of_installation(generated_pages(self._api.openapi()))

    def _openapi(self) -> Asset:
        text = json.dumps(self._api.openapi(), ensure_ascii=False, separators=(",", ":"))
        return asset_of(text.encode(), "application/json")


@routes.get("/docs")
async def to_documents() -> Response:
    return RedirectResponse("/docs/", 307, HEADERS)


@routes.get("/problems/{kind}")
async def to_problem(kind: str) -> Response:
    """Where the `type` of a problem leads who follows it."""
    if not kind.replace("-", "").isalpha() or not kind.isascii():
        raise HTTPException(404)
    return RedirectResponse(f"/docs/reference/problems/#{kind}", 307, HEADERS)


@routes.get("/docs/{path:path}")
async def get_document(path: str, request: Request) -> Response:
    documents: Documentation = request.app.state.documentation
    site = await documents.site.get()
    if site.is_built:
        return _of_site(site, path, request)
    return await _of_source(await documents.source.get(), path, request)


def _of_site(site: BuiltSite, path: str, request: Request) -> Response:
    if site.has_folder(path):
        return RedirectResponse(f"/docs/{path}/", 307, HEADERS)
    file = site.find(path)
    if file is None:
        raise HTTPException(404)
    return asset_response(request, file.asset, {**HEADERS, "Content-Security-Policy": file.policy})


async def _of_source(source: SourcePages, path: str, request: Request) -> Response:
    file = source.file(path)
    if file is not None:
        return FileResponse(file, headers=HEADERS)
    if path and not path.endswith("/"):
        return RedirectResponse(f"/docs/{path}/", 307, HEADERS)
    document = source.find(f"/docs/{path}")
    if document is None:
        raise HTTPException(404)
    html = await asyncio.to_thread(source.html, document)
    content = Markup(html)  # noqa: S704 - our own page; HTML in it is escaped
    return await page(
        request, "documents.html", document=document, content=content, groups=source.groups
    )


async def get_openapi(request: Request) -> Response:
    documents: Documentation = request.app.state.documentation
    return asset_response(request, await documents.openapi.get(), {})
