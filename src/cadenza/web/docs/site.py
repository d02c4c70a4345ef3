"""The site that `make docs` builds, as a wheel carries it. Its theme has scripts inside its pages:
each page's policy names exactly those, by their hash."""

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from cadenza.web.dashboard.assets import KINDS, Asset, asset_of
from cadenza.web.dashboard.policy import POLICY

FOLDER = Path(__file__).parent / "site"
INDEX = "index.html"
SITE_KINDS = {
    **KINDS,
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".py": "text/plain; charset=utf-8",
    ".sql": "text/plain; charset=utf-8",
    ".yaml": "text/plain; charset=utf-8",
}
_INLINE = re.compile(r"<script(?![^>]*\b(?:src|type)=)[^>]*>(.*?)</script>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SiteFile:
    asset: Asset
    policy: str


class BuiltSite:
    """Only what was there when it was opened is served, so that no address leads out of it."""

    def __init__(self, folder: Path) -> None:
        files = (path for path in folder.rglob("*") if path.suffix in SITE_KINDS)
        self._paths = {path.relative_to(folder).as_posix(): path for path in files}
        self._read = lru_cache(maxsize=None)(self._read_file)  # a few megabytes in all

    @property
    def is_built(self) -> bool:
        return INDEX in self._paths

    def has_folder(self, path: str) -> bool:
        """What a browser has to ask for with a slash at its end."""
        return f"{path}/{INDEX}" in self._paths

    def find(self, path: str) -> SiteFile | None:
        name = f"{path}{INDEX}" if path == "" or path.endswith("/") else path
        return self._read(name) if name in self._paths else None

    def _read_file(self, name: str) -> SiteFile:
        path = self._paths[name]
        content = path.read_bytes()
        is_page = path.suffix == ".html"
        policy = policy_for(content.decode()) if is_page else POLICY
        return SiteFile(asset_of(content, SITE_KINDS[path.suffix]), policy)


def policy_for(page: str) -> str:
    hashes = sorted({f"'sha256-{_hash(script)}'" for script in _INLINE.findall(page)})
    return POLICY.replace("script-src 'self'", " ".join(["script-src 'self'", *hashes]))


def _hash(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()
