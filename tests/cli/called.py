"""A command with no server around it, and how it ends, as the program's own `main` tells it."""

from dataclasses import dataclass

from typer.testing import CliRunner

from cadenza.domain.errors import CadenzaError
from cadenza.roots.main import app


@dataclass(frozen=True, slots=True)
class Called:
    exit_code: int
    stdout: str
    stderr: str


def call(*words: object) -> Called:
    env = {"CADENZA_API_URL": "http://127.0.0.1:9", "COLUMNS": "250"}
    result = CliRunner().invoke(app, [str(word) for word in words], env=env)
    error = result.exception
    if isinstance(error, CadenzaError):
        return Called(int(getattr(error, "exit_code", 1)), result.stdout, str(error))
    return Called(result.exit_code, result.stdout, result.stderr)
