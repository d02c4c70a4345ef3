"""A worker that is sent to a cluster without Ray, or to a place that is none."""

import sys

import pytest

from cadenza.adapters.graphs.ray.cluster import ClusterChildren, ClusterOptions
from cadenza.adapters.graphs.sources import GraphSources
from cadenza.domain.errors import InstallationError


def test_without_ray_the_extra_that_brings_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InstallationError, match=r"CADENZA_RAY_ADDRESS.*cadenza\[ray\]"):
        ClusterChildren(ClusterOptions("ray://127.0.0.1:1"), GraphSources(), {})
