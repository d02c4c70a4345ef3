"""Where graphs come from, and what of the worker's environment they may see."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cadenza.domain.errors import InstallationError

OURS = "CADENZA_"
ALWAYS = ("PATH", "HOME", "PYTHONPATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
# Set by the run gateway for each run; while graphs are imported they hold a placeholder, so that a
# client made at import does not fail, and no real key is ever seen.
MODEL_VARIABLES = {
    "OPENAI_API_KEY": "set-for-each-run",
    "OPENAI_BASE_URL": "http://set-for-each-run.invalid/v1",
    "OPENAI_API_BASE": "http://set-for-each-run.invalid/v1",
    "ANTHROPIC_API_KEY": "set-for-each-run",
    "ANTHROPIC_BASE_URL": "http://set-for-each-run.invalid",
}


@dataclass(frozen=True, slots=True)
class GraphSources:
    files: tuple[str, ...] = ()  # each a langgraph.json
    langgraph: Mapping[str, str] = field(default_factory=dict[str, str])  # name: where it is
    python: tuple[str, ...] = ()  # module:function; nothing else can be called
    paths: tuple[str, ...] = ()  # folders that modules are imported from
    entry_points: bool = True  # those of the group `cadenza.graphs`

    def present(self) -> "GraphSources":
        """Without files that are not here; the usual one need not be."""
        return replace(self, files=tuple(file for file in self.files if Path(file).is_file()))

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "langgraph": dict(self.langgraph)}

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "GraphSources":
        return GraphSources(
            files=tuple(values["files"]),
            langgraph=dict(values["langgraph"]),
            python=tuple(values["python"]),
            paths=tuple(values["paths"]),
            entry_points=bool(values["entry_points"]),
        )


def graph_environment(names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """What graphs see: a few variables that programs need, and those that the admin named."""
    wanted = [name.strip() for name in names if name.strip()]
    refused = [name for name in wanted if name.startswith(OURS) or "=" in name or "\0" in name]
    if refused:
        raise InstallationError(
            f"Graphs cannot be given {', '.join(refused)}: a name in the list of allowed variables "
            f"has no = in it, and settings of Cadenza (those with {OURS}) stay with it."
        )
    return {name: environment[name] for name in (*ALWAYS, *wanted) if name in environment}
