from collections.abc import Iterator

import pytest

from tests.adapters.graphs import ray_cluster
from tests.adapters.graphs.ray_cluster import RayCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster.started() as cluster:
        yield cluster
