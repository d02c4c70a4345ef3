"""The pages as they are written, for a clone in which nobody ran `make docs`: readable at once,
with the links between them, and without a search."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from posixpath import normpath

from markdown_it import MarkdownIt
from markdown_it.token import Token

import cadenza

_PACKAGE = Path(cadenza.__file__).parent
FOLDERS = (_PACKAGE / "web/docs/source", _PACKAGE.parents[1] / "docs")
FILES = (".png", ".svg", ".json", ".sql")
GROUPS = {
    "": "Start",
    "concepts": "Concepts",
    "how-to": "How to",
    "reference": "Reference",
    "decisions": "Decisions",
}


@dataclass(frozen=True, slots=True)
class SourcePage:
    path: str  # like `how-to/write-rules.md`
    title: str

    @property
    def address(self) -> str:
        return address_of(self.path)

    @property
    def group(self) -> str:
        return self.path.rpartition("/")[0]


class SourcePages:
    def __init__(self, folder: Path, generated: dict[str, str] | None = None) -> None:
        self._folder = folder
        self._generated = generated or {}
        self._markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
        self.html = lru_cache(maxsize=None)(self._html)  # a page a file: a megabyte in all

    @classmethod
    def of_installation(cls, generated: dict[str, str]) -> "SourcePages":
        return cls(next((folder for folder in FOLDERS if folder.is_dir()), FOLDERS[0]), generated)

    @cached_property
    def pages(self) -> list[SourcePage]:
        written = [path for group in GROUPS for path in (self._folder / group).glob("*.md")]
        names = {path.relative_to(self._folder).as_posix() for path in written}
        pages = [SourcePage(name, _title(self.text(name))) for name in names | {*self._generated}]
        return sorted(pages, key=lambda page: (page.path != "index.md", page.title))

    @property
    def groups(self) -> list[tuple[str, list[SourcePage]]]:
        """In the order in which one reads them."""
        return [
            (title, [page for page in self.pages if page.group == group])
            for group, title in GROUPS.items()
        ]

    def find(self, address: str) -> SourcePage | None:
        return next((page for page in self.pages if page.address == address), None)

    def file(self, path: str) -> Path | None:
        """A picture, or the schema that a page of the reference is about."""
        folders = (self._folder / "images", self._folder / "reference")
        files = [file for folder in folders for file in folder.glob("*") if file.suffix in FILES]
        return {f"{file.parent.name}/{file.name}": file for file in files}.get(path)

    def text(self, path: str) -> str:
        return self._generated.get(path) or (self._folder / path).read_text()

    def _html(self, page: SourcePage) -> str:
        tokens = self._markdown.parse(self.text(page.path))
        for token, inside in pairwise(tokens):
            if token.type == "heading_open":
                token.attrSet("id", anchor_of(inside.content))
        for token in tokens:
            for child in token.children or ():
                _mend_link(child, page.path)
        return self._markdown.renderer.render(tokens, self._markdown.options, {})


def address_of(path: str) -> str:
    """Where the built site has the page, too."""
    stem = path.removesuffix(".md").removesuffix("index").rstrip("/")
    return f"/docs/{stem}/" if stem else "/docs/"


def anchor_of(heading: str) -> str:
    """As the built site has it."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def _mend_link(token: Token, page: str) -> None:
    """From file to file on disk; from address to address here."""
    name = "src" if token.type == "image" else "href"
    target = str(token.attrGet(name) or "")
    if token.type not in ("image", "link_open") or not target or _leads_elsewhere(target):
        return
    file, mark, anchor = target.partition("#")
    resolved = normpath(str(PurePosixPath(page).parent / file)) if file else page
    if resolved.startswith("../"):  # to what is beside the documentation: only on disk
        token.attrs.pop(name)
        return
    is_page = resolved.endswith(".md")
    token.attrSet(name, (address_of(resolved) if is_page else f"/docs/{resolved}") + mark + anchor)


def _leads_elsewhere(target: str) -> bool:
    return target.startswith(("http://", "https://", "/"))


def _title(text: str) -> str:
    return next((line[2:] for line in text.split("\n") if line.startswith("# ")), "Documentation")
