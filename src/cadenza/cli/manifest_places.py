"""Errors of a server about a manifest, by the names that a person knows."""

import re
from typing import Any

from cadenza.cli.api_errors import ApiError

_PLACE = re.compile(r"jobs\[(\d+)\](?:\.endpoints\[(\d+)\])?")


def with_names(error: ApiError, wanted: dict[str, Any]) -> ApiError:
    """`jobs[0].endpoints[2].url` is that of `shop/queue`."""

    def named(found: "re.Match[str]") -> str:
        try:
            job = wanted["jobs"][int(found[1])]
            if found[2] is None:
                return str(job["name"])
            return f"{job['name']}/{job['endpoints'][int(found[2])]['name']}"
        except (IndexError, KeyError):
            return found[0]

    return ApiError(error.status, error.problem, _PLACE.sub(named, str(error)))
