"""Waiting for a delivery that a notifier makes."""

import time
from typing import Any

from cadenza.cli.client import Api
from cadenza.cli.errors import CommandError
from cadenza.cli.output import Output

LONGEST = 45  # seconds; a notifier gives each attempt less
EVERY = 0.3
NOBODY = (
    "Not sent yet. Is a notifier running? Check with cadenza doctor. It will be sent once one is; "
    "see cadenza webhooks deliveries."
)


def wait_for(api: Api, out: Output, delivery: dict[str, Any], name: str) -> None:
    ends = time.monotonic() + LONGEST
    with out.working("Sending …"):
        while delivery["status"] == "waiting" and time.monotonic() < ends:
            time.sleep(EVERY)
            delivery = api.get(f"/deliveries/{delivery['id']}")
    if delivery["status"] == "waiting":
        raise CommandError(NOBODY)
    if delivery["status"] == "failed":
        raise CommandError(f"{name} did not accept it: {delivery['error']}")
    out.done(delivery, f"{name} accepted it.")
