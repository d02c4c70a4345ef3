"""`cadenza` at an instant that the test names: `python -m tests.cli.frozen jobs list`."""

import os
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from cadenza.roots import main as program
from cadenza.roots.cli_context import cli_context

NOW = "CADENZA_SCREEN_NOW"


def main() -> None:
    now = datetime.fromisoformat(os.environ.pop(NOW))  # noqa: TID251
    home = timezone(timedelta(hours=6 - now.hour), "HOME")  # it is always a little past six here
    context = replace(cli_context(), now=lambda: now, local=lambda at: at.astimezone(home))
    program.app.info.context_settings = {"obj": context}
    sys.argv[0] = "cadenza"
    program.main()


if __name__ == "__main__":
    main()
