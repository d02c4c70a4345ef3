"""Which tests `make test-fast` leaves out, besides those that drive a browser or kill programs.

Those of web, cli and contracts run on both stores; their conftest.py leaves PostgreSQL out.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# On a busy machine any example takes a while: that is no failure.
settings.register_profile("cadenza", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("cadenza")

TESTS = Path(__file__).parent
# Each is fine by itself; together they take minutes: real programs, walks over every route.
SLOW = (
    "adapters/brains/llm",
    "adapters/brains/test_baseline_promise.py",
    "adapters/gateway",
    "adapters/graphs",
    "adapters/http/test_hostile_targets.py",
    "adapters/messaging",
    "adapters/postgres",
    "adapters/test_embedded_postgres.py",
    "adapters/test_endable_expressions.py",
    "adapters/test_shell.py",
    "benchmarks",
    "cli/test_replay_with_a_model.py",
    "cli/test_screens.py",
    "deploy",
    "documents",
    "graphs",
    "observability/test_graphs_and_up.py",
    "observability/test_logs.py",
    "observability/test_programs.py",
    "observability/test_traces.py",
    "packaging",
    "program/test_running.py",
    "program/test_calling.py",
    "sim/test_command.py",
    "sim/test_demo.py",
    "web/test_schema.py",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """They are not even imported, for some of them need libraries that take seconds to load."""
    return True if "not slow" in config.option.markexpr and _is_slow(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "ray" not in config.option.markexpr:  # it is not even installed
        items[:] = [item for item in items if item.get_closest_marker("ray") is None]
    for item in items:
        if _is_slow(item.path):
            item.add_marker(pytest.mark.slow)


def _is_slow(path: Path) -> bool:
    return path.relative_to(TESTS).as_posix().startswith(SLOW)
