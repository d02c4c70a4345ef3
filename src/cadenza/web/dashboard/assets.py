"""The files of `static/`, from memory: named by the content of all of them, so that a browser may
keep each for ever and still never shows an old one."""

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from cadenza.web.dashboard.policy import HEADERS

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
SMALL = 1000  # bytes; packing fewer gains nothing
FOR_EVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
routes = APIRouter()


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    packed: bytes | None
    kind: str
    tag: str


@cache
def assets() -> dict[str, Asset]:
    """By path, like `vendor/htmx.min.js`."""
    folder = resources.files("cadenza.web.dashboard").joinpath("static")
    return dict(sorted(_read(folder, "")))


@cache
def version() -> str:
    """Another one as soon as a byte of any file is another."""
    text = "".join(f"{path} {asset.tag}\n" for path, asset in assets().items())
    return sha256(text.encode()).hexdigest()[:16]


def asset_url(path: str) -> str:
    assert path in assets(), f"there is no static/{path}"
    return f"/static/{version()}/{path}"


@routes.get("/static/{asked_version}/{path:path}")
async def get_asset(asked_version: str, path: str, request: Request) -> Response:
    asset = assets().get(path)
    if asset is None:
        raise HTTPException(404)
    lifetime = FOR_EVER if asked_version == version() else ASK_AGAIN
    return asset_response(request, asset, HEADERS, lifetime)


def asset_response(
    request: Request, asset: Asset, policy: dict[str, str], lifetime: str = ASK_AGAIN
) -> Response:
    headers = {**policy, "ETag": asset.tag, "Vary": "Accept-Encoding", "Cache-Control": lifetime}
    if asset.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if asset.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(asset.packed, headers=headers, media_type=asset.kind)
    return Response(asset.content, headers=headers, media_type=asset.kind)


def _read(folder: Traversable, prefix: str) -> list[tuple[str, Asset]]:
    files: list[tuple[str, Asset]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            files += _read(entry, f"{prefix}{entry.name}/")
            continue
        suffix = entry.name[entry.name.rfind(".") :]
        if suffix in KINDS:
            files.append((f"{prefix}{entry.name}", asset_of(entry.read_bytes(), KINDS[suffix])))
    return files


def asset_of(content: bytes, kind: str) -> Asset:
    packed = gzip.compress(content, mtime=0) if len(content) >= SMALL else None
    return Asset(content, packed, kind, f'"{sha256(content).hexdigest()[:32]}"')
