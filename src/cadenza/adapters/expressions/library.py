"""The library without its command line, which it loads too: a toolkit for terminals that takes most
of the time, in every program and in every process that runs expressions."""

import sys
from types import ModuleType

_COMMAND_LINE = "cel.cli"

sys.modules.setdefault(_COMMAND_LINE, ModuleType(_COMMAND_LINE))
import cel  # noqa: E402

if not hasattr(sys.modules[_COMMAND_LINE], "__file__"):
    del sys.modules[_COMMAND_LINE]

__all__ = ["cel"]
