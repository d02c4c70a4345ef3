"""The OpenAPI document and the application say the same: Schemathesis over all of it."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.web.support import ADMIN, ADMIN_KEY, Listening, bearer
from tests.web.walking import document, operations

# Cron, zones and expressions have rules that no schema can say.
UNSAYABLE = [positive_data_acceptance]
REFUSED = ["400", "401", "403", "404", "405", "409", "410", "412", "413", "414", "415", "422"]
CONFIG = schemathesis.Config.from_dict(
    {
        "seed": 1,
        "generation": {"deterministic": True, "with-security-parameters": False},
        # A value can be so wrong that it does not even fit into an address.
        "checks": {"negative_data_rejection": {"expected-statuses": REFUSED}},
    }
)
STREAMS = [
    operation.path for operation in operations() if operation.streams
]  # they do not end by themselves
schema = schemathesis.openapi.from_dict(document(), config=CONFIG).exclude(
    lambda context: context.operation.path in STREAMS
)


@dataclass(slots=True)
class Ids:
    """What is there, by the name of the parameter that asks for it."""

    url: str
    key: str
    session: requests.Session
    of: dict[str, str]


@pytest.fixture(scope="module")
def there(server: Listening) -> Iterator[Ids]:
    ours = server.site.ours

    async def furnish() -> dict[str, str]:
        endpoint = await ours.endpoint(secret_headers={"X-Key": "s3cret"})
        spare = await server.site.admin("POST", "/tenants", json={"name": "spare"})
        users = f"/tenants/{spare.json()['id']}/users"
        user = await server.site.admin("POST", users, json={"name": "eve"})
        key = await ours.done("POST", "/keys", {"name": "spare", "scopes": ["read"]})
        return {
            "job_id": endpoint["job_id"],
            "endpoint_id": endpoint["id"],
            "key_id": key["id"],
            "tenant_id": spare.json()["id"],
            "user_id": user.json()["id"],
        }

    of = server.wait_for(furnish())
    with requests.Session() as session:
        yield Ids(server.url, ours.keys[ADMIN], session, of)


@schema.parametrize()
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    database=None,
)
def test_every_answer_is_one_that_the_document_tells_of(
    case: schemathesis.Case, there: Ids
) -> None:
    wanted = case.operation.definition.raw.get("security") or [{}]  # a probe needs none
    key = ADMIN_KEY if "OperatorKey" in wanted[0] else there.key
    if case.meta is None or not case.meta.is_negative_at(ParameterLocation.PATH):
        for name in case.path_parameters or {}:
            case.path_parameters[name] = there.of.get(name, case.path_parameters[name])
    case.call_and_validate(
        base_url=there.url,
        session=there.session,
        headers=bearer(key),
        excluded_checks=UNSAYABLE,
    )
