"""The SQL of this store, from `queries/*.sql`: a few files by subject, each a list of statements.

A statement is a paragraph that begins with `-- name: claim_due` and a line of purpose. Paragraphs
of comments alone are for the reader. Statements are complete as they stand: what several of them
share is a view or a function of a migration.
"""

import re
from collections.abc import Mapping
from importlib import resources
from typing import Any, TypeAlias

import asyncpg

from cadenza.adapters.postgres.database import Connection, Database
from cadenza.domain.errors import NotFound

Source: TypeAlias = "Connection | Database"
_HEADING = re.compile(r"-- name: ([a-z_]+)\n-- ")
_BLANK_LINES = re.compile(r"\n\s*\n")


def parse_statements(files: Mapping[str, str]) -> dict[str, str]:
    """By name. ValueError where a paragraph has no name, or one that another has."""
    statements: dict[str, str] = {}
    for file, text in files.items():
        for paragraph in _BLANK_LINES.split(text.strip()):
            heading = _HEADING.match(paragraph)
            if heading is None:
                if all(line.startswith("--") for line in paragraph.splitlines()):
                    continue
                raise ValueError(f"{file}: a statement without name and purpose:\n{paragraph}")
            if heading[1] in statements:
                raise ValueError(f"{file}: the name {heading[1]} is given twice")
            statements[heading[1]] = paragraph
    return statements


def _read_files() -> dict[str, str]:
    folder = resources.files("cadenza.adapters.postgres").joinpath("queries")
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    return {file.name: file.read_text(encoding="utf-8") for file in files}


_STATEMENTS = parse_statements(_read_files())


def query(name: str) -> str:
    """With its comments, so that a server's log shows which statement is slow."""
    return _STATEMENTS[name]


async def one_row(source: Source, name: str, kind: str, *ids: Any) -> asyncpg.Record:
    """What a statement finds by the last of these ids; NotFound where there is nothing."""
    row = await source.fetchrow(query(name), *ids)
    if row is None:
        raise NotFound(f"no {kind} {ids[-1]}")
    return row
