"""What a command may see of the worker's environment: only names that the admin listed."""

from collections.abc import Iterable, Mapping

from cadenza.domain.errors import InstallationError

OURS = "CADENZA_"
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def allowed_environment(names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Those of the names that are set, never Cadenza's own settings, which hold its secrets."""
    wanted = [name.strip() for name in names if name.strip()]
    refused = [name for name in wanted if name.startswith(OURS) or "=" in name or "\0" in name]
    if refused:
        raise InstallationError(
            f"Commands cannot be given {', '.join(refused)}: a name in the list of allowed "
            f"variables has no = in it, and settings of Cadenza (those with {OURS}) stay with it."
        )
    return {name: environment[name] for name in wanted if name in environment}
