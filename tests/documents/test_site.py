"""The site is built without a warning, and every page of it is served."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from cadenza.web.docs.site import BuiltSite, policy_for
from tests.documents.commands import ROOT
from tests.documents.site import build_site
from tests.web.walking import document

# Neither whole addresses, nor those that begin with a slash: they are the API's.
ADDRESS = re.compile(r'(?:href|src|srcset)="((?![a-z]+:|/|#|")[^"]+)"')
ELSEWHERE = re.compile(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?:https?:)?//')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert build_site(folder) == ""
    return folder


def test_every_document_is_a_page_of_the_menu(folder: Path) -> None:
    menu = (folder / "index.html").read_text()
    written = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    assert len(written) > 40
    for path in written:
        address = "" if path.stem == "index" else f"{path.with_suffix('').as_posix()}/"
        assert (folder / address / "index.html").is_file()
        assert f'href="{address or "."}"' in menu, address


def test_no_page_loads_anything_from_elsewhere(folder: Path) -> None:
    pages = list(folder.rglob("*.html"))
    assert pages
    assert [page for page in pages if ELSEWHERE.search(page.read_text())] == []
    styles = "".join(path.read_text() for path in folder.rglob("*.css"))
    assert re.findall(r"url\(['\"]?(?:https?:)?//|@import", styles) == []


def test_every_address_in_a_page_leads_to_a_file_of_the_site(folder: Path) -> None:
    """Those in raw HTML too, at which the strict build does not look."""
    broken: list[str] = []
    for page in folder.rglob("*.html"):
        addresses: list[str] = ADDRESS.findall(page.read_text())
        for address in addresses:
            target = page.parent / unquote(urlsplit(address).path)
            if not (target / "index.html").is_file() and not target.is_file():
                broken.append(f"{page.relative_to(folder)}: {address}")
    assert broken == []


def test_no_page_has_a_style_inside_it_which_its_policy_would_refuse(folder: Path) -> None:
    pages = list(folder.rglob("*.html"))
    assert [page for page in pages if re.search(r"<style| style=", page.read_text())] == []


def test_the_policy_of_a_page_names_its_own_scripts_and_allows_no_others(folder: Path) -> None:
    page = (folder / "how-to/write-rules/index.html").read_text()
    script_src = policy_for(page).split("script-src ")[1].split(";")[0]
    assert script_src.startswith("'self' 'sha256-")
    assert "unsafe" not in policy_for(page)
    changed = page.replace("__md_scope=new URL", "__md_scope=new  URL")
    assert changed != page
    assert policy_for(changed) != policy_for(page)


def test_every_route_and_every_schema_of_the_api_is_on_a_page(folder: Path) -> None:
    routes = (folder / "reference/routes/index.html").read_text()
    schemas = (folder / "reference/schemas/index.html").read_text()
    for path, methods in document()["paths"].items():
        for method in methods:
            assert f">{method.upper()} {path.removeprefix('/api/v1')}<" in routes
    names = [name for name in document()["components"]["schemas"] if "_" not in name]
    assert len(names) > 50
    assert [name for name in names if f'id="{name.lower()}"' not in schemas] == []


def test_every_command_is_on_a_page_with_its_options(folder: Path) -> None:
    page = (folder / "reference/commands/index.html").read_text()
    listed = re.findall(
        r"^\| `(cadenza [a-z -]+)", (ROOT / "docs/reference/cli.md").read_text(), re.MULTILINE
    )
    assert len(listed) > 50
    assert [name for name in listed if f">{name.strip()}<" not in page] == []
    assert "<code>--success-when</code>" in page


def test_only_files_of_the_folder_are_found(folder: Path, tmp_path: Path) -> None:
    site = BuiltSite(folder)
    assert site.is_built
    assert site.find("") is not None
    assert site.find("search/search_index.json") is not None
    for path in ("../pyproject.toml", "/etc/passwd", "index.html/", "no-such-page/", "assets"):
        assert site.find(path) is None
    assert not BuiltSite(tmp_path / "never-built").is_built
