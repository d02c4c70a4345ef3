"""The real provider as a process, for as long as a test needs it; it ends with its stdin."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
INSTALLED = HERE.parent.parent / ".venv" / "oidc-provider"
SECRET = "a secret: of the tests"
MISSING = "There is no OpenID provider: `make test` installs one with npm into .venv/oidc-provider."


@contextmanager
def running_provider() -> Iterator[str]:
    """Its issuer."""
    assert (INSTALLED / "node_modules" / "oidc-provider").is_dir(), MISSING
    with subprocess.Popen(
        ["node", str(HERE / "provider.mjs"), str(INSTALLED)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            issuer = next(line.strip() for line in process.stdout if line.startswith("http"))
            yield issuer
        finally:
            process.stdin.close()
            process.kill()
