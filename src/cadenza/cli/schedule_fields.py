"""A schedule's fields as options: what a person writes, and the document that is sent."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from cadenza.cli.graph_fields import NONE, LimitOptions, object_of, option_field, with_nulls

_what = partial(option_field, "What runs, and when")


@dataclass(frozen=True, slots=True)
class ScheduleOptions(LimitOptions):
    """Each is an option of `create` and `update`."""

    cron: str | None = _what("--cron", "A cron expression, such as '0 9 * * mon-fri'.")
    timezone: str | None = _what("--timezone", "The time zone of --cron. Default: UTC.")
    graph_input: str | None = _what("--input", "The graph's input: a JSON object, or @file.")
    policy: str | None = _what(
        "--policy", "If the last run is still going: forbid, allow or replace."
    )
    requires: list[str] | None = _what(  # noqa: RUF009 - a field
        "--requires", "A label the worker must have, such as gpu. Repeatable."
    )

    def document(self) -> dict[str, Any]:
        """What was given, by the names of the API; `none` becomes null: the field is taken away."""
        return with_nulls(
            {
                "cron": self.cron,
                "timezone": self.timezone,
                "input": object_of(self.graph_input),
                "concurrency_policy": self.policy,
                "requires": NONE if self.requires == [NONE] else self.requires or None,
                "limits": self.limits(),
            }
        )
