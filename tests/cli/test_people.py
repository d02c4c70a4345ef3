"""Keys, tenants and their users, the audit log; keys that open nothing."""

from pathlib import Path

from tests.cli.support import Person


def test_a_key_is_made_shown_once_rotated_and_revoked(person: Person) -> None:
    made = person.gets("keys", "create", "grafana", "--scope", "read", "--expires", "30d")
    reader = Person(person.site, person.tenant, made["key"])
    assert reader.gets("whoami")["scopes"] == ["read"]
    assert "expires in 30 days" in person.says("keys", "list")
    refused = person.cadenza("keys", "rotate", "grafana")
    assert refused.code != 0
    assert "stops working at once" in refused.err
    assert reader.cadenza("jobs", "list").code == 0
    rotated = person.gets("keys", "rotate", "grafana", "--yes")
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
    assert "No entries match" in person.says("audit", "list", "--actor", "nobody")


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


def test_the_planner_is_stopped_and_started_again(person: Person) -> None:
    person.gets("jobs", "create", "shop", "--planner", "act")
    assert "the modes of 1 job" in person.says("planner", "stop", "--reason", "a strange night")
    shown = person.says("planner", "show")
    assert "a strange night" in shown
    assert "by ada" in shown
    assert "have them again" in person.says("planner", "start")
    assert person.gets("planner", "show")["stop"] is None
    assert "was not stopped" in person.says("planner", "start")


def test_the_installations_admin_stops_every_planner_after_a_question(person: Person) -> None:
    assert "--yes" in person.cadenza("tenants", "stop-planner").err
    assert "is stopped in" in person.says("tenants", "stop-planner", "--yes", "--reason", "a bill")
    assert "the installation's admin" in person.says("planner", "show")
    assert "is running again in" in person.says("tenants", "start-planner")
    assert person.gets("planner", "show")["stop"] is None


def test_somebody_is_invited_given_a_role_and_removed(person: Person) -> None:
    person.says("jobs", "create", "shop")
    invited = person.gets(
        "people", "invite", "eve@example.org", "--role", "viewer", "--job", "shop=operator"
    )
    assert invited["link"].endswith(invited["path"])
    assert invited["jobs"][0]["role"] == "operator"
    assert "eve@example.org" in person.says("people", "invitations")
    person.says("people", "revoke-invitation", "eve@example.org", "--yes")
    assert "revoked" in person.says("people", "invitations")
    words = ("people", "invite", "bob@example.org", "--role", "viewer")
    assert "Shown only once" in person.says(*words)
    assert "owner" in person.says("people", "list")
    last = person.cadenza("people", "role", "ada", "--role", "viewer")
    assert last.code != 0
    assert "last owner" in last.err
    assert person.cadenza("people", "remove", "ada", "--yes").code != 0


def test_a_role_that_cannot_be_is_refused_before_anything_is_sent(person: Person) -> None:
    for words in (("ada",), ("ada", "--job", "shop"), ("ada", "--job", "shop=king")):
        done = person.cadenza("people", "role", *words)
        assert done.code == 2, words
    assert "shop=operator" in person.cadenza("people", "role", "ada", "--job", "x=y").err
    assert person.cadenza("people", "role", "nobody", "--role", "viewer").code != 0


def test_the_owner_of_a_job_looks_after_its_people_and_keys(person: Person) -> None:
    person.says("jobs", "create", "shop")
    person.says("jobs", "create", "other")
    for name in ("olga", "bob"):
        person.says("tenants", "create-user", person.tenant, name)
    assert "olga is for single jobs" in person.says("people", "role", "olga", "--job", "shop=owner")
    assert "bob is viewer" in person.says("people", "role", "bob", "--role", "viewer")
    made = person.gets("keys", "create", "of-olga", "--user", "olga", "--scope", "admin")
    olga = Person(person.site, person.tenant, made["key"])
    assert "bob is operator of shop" in olga.says("people", "give", "bob", "shop=operator")
    listed = olga.says("people", "list", "--job", "shop")
    assert "bob" in listed
    assert "owner" in listed
    olga.says("people", "take", "bob", "shop")
    assert "bob" not in olga.says("people", "list", "--job", "shop")
    invited = olga.gets("people", "invite", "eve@example.org", "--job", "shop=viewer")
    assert len(invited["jobs"]) == 1
    assert "eve@example.org" in olga.says("people", "invitations", "--job", "shop")
    olga.says("people", "revoke-invitation", "eve@example.org", "--job", "shop", "--yes")
    olga.says("keys", "create", "ci", "--job", "shop", "--scope", "operate")
    assert "ci" in olga.says("keys", "list", "--job", "shop")
    assert "Revoked" in olga.says("keys", "revoke", "ci", "--job", "shop", "--yes")
    for words in (
        ("people", "list"),
        ("people", "role", "olga", "--role", "owner"),
        ("people", "give", "olga", "other=owner"),
        ("people", "invite", "eve@example.org", "--role", "viewer"),
        ("keys", "create", "more", "--job", "shop", "--scope", "admin"),
    ):
        assert olga.cadenza(*words).code != 0, words


def test_a_key_for_one_job_sees_that_alone(person: Person) -> None:
    person.says("jobs", "create", "mine")
    person.says("jobs", "create", "other")
    made = person.gets("keys", "create", "ci", "--scope", "operate", "--job", "mine")
    ci = Person(person.site, person.tenant, made["key"])
    assert "mine" in ci.says("jobs", "list")
    assert "other" not in ci.says("jobs", "list")
    assert ci.cadenza("jobs", "show", "other").code != 0


def test_a_key_that_ends_soon_is_told_of(person: Person) -> None:
    made = person.gets("keys", "create", "short", "--scope", "read", "--expires", "2d")
    short = Person(person.site, person.tenant, made["key"])
    assert "Your key expires in" in short.cadenza("status").err
    assert "Your key ends" not in person.cadenza("status").err


def test_the_audit_log_is_written_to_a_file(person: Person, tmp_path: Path) -> None:
    person.says("jobs", "create", "shop")
    file = tmp_path / "audit.csv"
    done = person.cadenza("audit", "export", "--format", "csv", "--since", "1d", "--to", str(file))
    assert done.code == 0
    assert file.read_text().startswith("id,at,actor,action,subject,data")
    assert "job.create" in file.read_text()
    assert person.cadenza("audit", "export", "--since", "yesterday-ish").code != 0
    nowhere = person.cadenza("audit", "export", "--to", str(tmp_path / "none" / "audit.csv"))
    assert nowhere.code == 1
    assert "could not be written" in nowhere.err
