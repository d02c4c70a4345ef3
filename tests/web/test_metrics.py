"""`/metrics` of the API: for whom, and where nothing is counted."""

from cadenza.domain.access import Scope
from tests.web.support import ADMIN_KEY, Site, bearer


async def test_only_the_installations_admin_is_told_that_nothing_is_counted(site: Site) -> None:
    for headers in ({}, bearer("wrong"), bearer(site.ours.keys[Scope.ADMIN])):
        refused = await site.client.get("/metrics", headers=headers)
        assert refused.status_code == 401
        assert "CADENZA_ADMIN_KEY" in refused.json()["detail"]
    missing = await site.client.get("/metrics", headers=bearer(ADMIN_KEY))
    assert missing.status_code == 404
    assert "CADENZA_METRICS=true" in missing.json()["detail"]


async def test_it_is_no_part_of_the_api_that_clients_are_made_from(site: Site) -> None:
    document = (await site.client.get("/api/v1/openapi.json")).json()
    assert "/metrics" not in document["paths"]
    assert "/readyz" in document["paths"]
