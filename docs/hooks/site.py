"""What the build of the site adds to the pages: those that the code writes, the examples and the
changelog, and a menu in which every page is, also one that nobody has put there."""

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from command_page import PATH as COMMANDS
from command_page import command_page
from mkdocs.structure.files import File, Files

from cadenza.web.api.app import storeless_app
from cadenza.web.docs.generated import generated_pages

ROOT = Path(__file__).parents[2]
SHOWN_EXAMPLES = (".md", ".yaml", ".py", ".json")
OUTWARD = {  # from what a link begins with on disk to what it begins with on the site
    r"\.\./\.\./examples(?:/graphs)?\)": "../examples/README.md)",
    r"\.\./\.\./examples/": "../examples/",
    r"\.\./docs/": "../",
    r"docs/": "",
}
# The order of pages in a menu, by folder and group; what no pattern names is in the last group.
HOW_TO = {
    "Everyday": [
        "watch-a-website", "nightly-report", "run-a-command", "adapt-to-a-queue",
        "protect-an-endpoint", "flapping-checks", "heartbeat*", "publish-*", "send-*", "why-did-it-run",
        "stop-everything", "missed-slots", "daylight-saving", "dashboard", "be-told*", "webhook*",
    ],
    "As code": [
        "schedules-as-code", "write-rules", "test-a-schedule", "python-*", "verify-signatures",
        "secrets", "move-from-*", "use-with-an-assistant",
    ],
    "Planners and models": ["limit-planners", "use-an-llm", "planner-off"],
    "Graphs": ["schedule-graphs", "call-graphs", "run-graphs", "run-graphs-*", "accounts-*"],
    "Run it": [
        "run-a-worker", "run-as-a-service", "deploy*", "docker*", "kubernetes*", "behind-tls",
        "pgbouncer", "high-availability", "people-*", "sign-in-*", "monitor*", "metrics*", "back-up*",
        "upgrade", "lost-admin-key", "size*", "sizing*",
    ],
    "More": ["*"],
}  # fmt: skip
CONCEPTS = [
    "how-it-works", "shape-answers", "planner", "adaptation", "safe-dispatch", "comparison",
    "same-job-elsewhere", "*",
]  # fmt: skip
# They mention everything; a search shows pages that explain something before them.
LONG_LISTS = (
    "reference/routes.md", "reference/schemas.md", "reference/commands.md", "changelog.md",
    "decisions/*", "examples/*",
)  # fmt: skip
REFERENCE = [
    "api", "routes", "schemas", "problems", "events", "cli", "commands", "file-format", "rule-language",
    "settings", "metrics", "simulation", "*",
]  # fmt: skip


def on_files(files: Files, config: Any) -> Files:
    written = generated_pages(storeless_app().openapi())
    for path, text in {**written, COMMANDS: command_page()}.items():
        files.append(File.generated(config, path, content=text))
    for file in sorted((ROOT / "examples").rglob("*")):
        if file.suffix in SHOWN_EXAMPLES and "__pycache__" not in file.parts:
            path = f"examples/{file.relative_to(ROOT / 'examples').as_posix()}"
            files.append(File.generated(config, path, abs_src_path=str(file)))
    changelog = str(ROOT / "CHANGELOG.md")
    files.append(File.generated(config, "changelog.md", abs_src_path=changelog))
    config.nav = menu([file.src_uri for file in files.documentation_pages()])
    return files


def on_page_markdown(markdown: str, page: Any, **_around: Any) -> str:
    """Examples and changelog are beside `docs/` on disk, and inside of it on the site."""
    if any(fnmatch(page.file.src_uri, pattern) for pattern in LONG_LISTS):
        page.meta["search"] = {"boost": 0.02}
    for found, instead in OUTWARD.items():
        markdown = re.sub(rf"\]\({found}", f"]({instead}", markdown)
    return markdown


def on_post_page(output: str, **_around: Any) -> str:
    """The theme's search is a dialog without a name, which a screen reader would not tell."""
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">')


def on_post_build(config: Any) -> None:
    """Nobody asks for these, and they are other ones at every build, or large."""
    for pattern in ("sitemap.xml*", "404.html", "assets/**/*.map", "assets/javascripts/lunr/**/*"):
        for path in Path(config.site_dir).glob(pattern):
            if path.is_file():
                path.unlink()


def menu(paths: list[str]) -> list[Any]:
    of = {folder: _in(folder, paths) for folder in ("concepts", "how-to", "reference", "decisions")}
    titles = [page for page in of["how-to"] if page != "how-to/index.md"]
    groups = [{name: pages} for name, pages in _grouped(titles).items() if pages]
    how_to = ["how-to/index.md", *groups]
    about = ["reliability.md", "security.md", "changelog.md", *of["decisions"]]
    start = ["tutorial.md"]
    known = {"index.md", *start, *about, *(page for pages in of.values() for page in pages)}
    examples = [page for page in paths if page.startswith("examples/")]
    others = [page for page in paths if page not in known and page not in examples]
    return [
        {"Start": ["index.md", *start, *others, *examples]},
        {"Concepts": _ordered(of["concepts"], CONCEPTS)},
        {"How to": how_to},
        {"Reference": _ordered(of["reference"], REFERENCE)},
        {"About": about},
    ]


def _in(folder: str, paths: list[str]) -> list[str]:
    return sorted(path for path in paths if path.startswith(f"{folder}/"))


def _grouped(pages: list[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    left = list(pages)
    for name, patterns in HOW_TO.items():
        groups[name] = _ordered(left, patterns)
        left = [page for page in left if page not in groups[name]]
    return groups


def _ordered(pages: list[str], patterns: list[str]) -> list[str]:
    found = [page for pattern in patterns for page in pages if fnmatch(Path(page).stem, pattern)]
    return list(dict.fromkeys(found))
