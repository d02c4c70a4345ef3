"""Cadenza: an adaptive scheduler. What a program imports is loaded when it is first used; its types
are in `__init__.pyi`."""

from importlib import import_module
from typing import Any

_FROM = {
    "AsyncClient": "cadenza.async_api",
    "Cadenza": "cadenza.app",
    "CadenzaError": "cadenza.domain.errors",
    "Client": "cadenza.api",
    "Run": "cadenza.adapters.functions.run",
    "current_run": "cadenza.adapters.functions.run",
}


def __getattr__(name: str) -> Any:
    try:
        module = _FROM[name]
    except KeyError:
        raise AttributeError(f"module 'cadenza' has no attribute {name!r}") from None
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return [*globals(), *_FROM]
