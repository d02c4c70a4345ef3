"""Keys, tenants and their users, the audit log; keys that open nothing."""

from tests.cli.support import Person


def test_a_key_is_made_shown_once_rotated_and_revoked(person: Person) -> None:
    made = person.gets("keys", "create", "grafana", "--scope", "read", "--expires", "30d")
    reader = Person(person.site, person.tenant, made["key"])
    assert reader.gets("whoami")["scopes"] == ["read"]
    assert "expires in 30 days" in person.says("keys", "list")
    rotated = person.gets("keys", "rotate", "grafana")
    reader.key = rotated["key"]
    assert reader.cadenza("jobs", "list").code == 0
    assert "Revoked" in person.says("keys", "revoke", rotated["id"], "--yes")
    done = reader.cadenza("jobs", "list")
    assert done.code == 4
    assert "revoked" in done.err
    assert "CADENZA_API_KEY" in done.err
    assert "ada" in person.says("keys", "users")


def test_a_key_that_may_only_read_changes_nothing(person: Person) -> None:
    made = person.gets("keys", "create", "reader", "--scope", "read", "--user", "ada")
    reader = Person(person.site, person.tenant, made["key"])
    done = reader.cadenza("jobs", "create", "shop")
    assert done.code == 4
    assert "scope operate" in done.err


def test_signing_keys_are_made_and_listed(person: Person) -> None:
    assert "cadenza signing-keys create" in person.says("signing-keys", "list")
    assert person.gets("signing-keys", "create")["secret"].startswith("whsec_")
    assert "has no end yet" in person.says("signing-keys", "list")


def test_the_tenant_is_told_what_it_uses(person: Person) -> None:
    person.queue()
    assert person.gets("usage")["endpoints"] == 1
    assert "no runs" in person.says("usage") or "success" in person.says("usage")
    assert "5,000,000" in person.says("quota")
    assert person.tenant in person.says("whoami")


def test_who_did_what_is_listed(person: Person) -> None:
    person.queue()
    assert "endpoint.create" in person.says("audit", "list")
    entries = person.cadenza("audit", "list", "--action", "job.create", "--json").lines
    assert [entry["action"] for entry in entries] == ["job.create"]
    assert "Nobody" in person.says("audit", "list", "--actor", "nobody")


def test_the_installations_admin_makes_and_deletes_a_tenant(person: Person) -> None:
    name = f"{person.tenant} two"
    assert f"cadenza tenants create-user '{name}' USER" in person.says("tenants", "create", name)
    assert "cadenza tenants create-user" in person.says("tenants", "users", name)
    person.says("tenants", "create-user", name, "bob")
    key = person.gets("tenants", "create-key", name, "bob", "--scope", "operate")["key"]
    bob = Person(person.site, name, key)
    assert bob.gets("whoami")["tenant_name"] == name
    assert "bob" in person.says("tenants", "users", name)
    assert person.gets("tenants", "show", name)["name"] == name
    assert name in person.says("tenants", "list", "--limit", "1000")
    person.says("tenants", "delete-user", name, "bob", "--yes")
    assert bob.cadenza("jobs", "list").code == 4
    refused = person.cadenza("tenants", "delete", name, "--confirm", "another")
    assert refused.code == 2
    assert "Deleted" in person.says("tenants", "delete", name, "--confirm", name)
    assert person.cadenza("tenants", "show", name).code == 3


def test_tenants_need_the_admins_key(person: Person) -> None:
    person.environment["CADENZA_ADMIN_KEY"] = ""
    done = person.cadenza("tenants", "list")
    assert done.code == 4
    assert "CADENZA_ADMIN_KEY" in done.err
    assert person.cadenza("tenants", "list", "--key", person.key).code == 4
