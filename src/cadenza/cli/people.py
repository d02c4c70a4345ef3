"""`cadenza people`: who has which role in the tenant, and whom an owner has invited."""

from typing import Annotated, Any

import typer

from cadenza.cli.asking import Yes, ask
from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.errors import usage
from cadenza.cli.lookup import find_job, one_of
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import plain
from cadenza.domain.people import Role

Item = dict[str, Any]
Person = Annotated[str, typer.Argument(metavar="PERSON", help="A person's name or id.")]
InTenant = Annotated[Role | None, typer.Option("--role", help="A role in the whole tenant.")]
ForJobs = Annotated[
    list[str] | None,
    typer.Option(
        "--job",
        metavar="JOB=ROLE",
        help="A role in one job: viewer, operator or owner. Repeatable.",
    ),
]
OfJob = Annotated[
    str | None, typer.Option("--job", help="For one job only; job owners may do this too.")
]
cli = group("people", "Manage members: invite, assign roles, remove.")


@command(cli, "list")
def list_people(api: Api, out: Output, job: OfJob = None) -> None:
    """List members and their roles, in the tenant or in one job.

    Example: cadenza people list --job shop
    """
    if job is not None:
        of_job = [
            Column("name", lambda person: person["name"]),
            Column("role", lambda person: person["role"]),
            Column("id", lambda person: person["id"], is_id=True),
        ]
        nobody = "Nobody has a role in this job only."
        out.rows(api.get(f"{_path(api, job)}/people")["items"], of_job, nobody)
        return
    columns = [
        Column("name", lambda person: person["name"]),
        Column("role", _role),
        Column("jobs", lambda person: len(person["jobs"]) or "", rank=1),
        Column("since", lambda person: out.times.relative(person["created_at"]), rank=2),
        Column("id", lambda person: person["id"], is_id=True),
    ]
    out.rows(api.get("/people")["items"], columns, "Nobody.")


@command(cli, "invite")
def invite(
    api: Api,
    out: Output,
    email: Annotated[str, typer.Argument(metavar="ADDRESS", help="The person's email address.")],
    role: InTenant = None,
    job: ForJobs = None,
    lasts: Annotated[
        str | None, typer.Option(help="How long the link is valid. Default: 7d.")
    ] = None,
) -> None:
    """Create an invitation link. It is shown once and works once.

    Example: cadenza people invite ada@example.org --role operator
    """
    access = _access(api, role, job)
    body: Item = {"email": email} if lasts is None else {"email": email, "lasts": lasts}
    if role is None and len(access["jobs"]) == 1:  # which an owner of that job may, too
        (only,) = access["jobs"]
        path = f"/jobs/{only['job_id']}/invitations"
        invitation = api.post(path, {**body, "role": only["role"]})
    else:
        invitation = api.post("/invitations", {**body, **access})
    link = f"{api.server.url.rstrip('/')}{invitation['path']}"
    until = out.times.when(invitation["expires_at"])
    text = (
        f"{link}\nShown only once. Send it to {invitation['email']}. It works once, until {until}."
    )
    out.done({**invitation, "link": link}, text)


@command(cli, "invitations")
def list_invitations(api: Api, out: Output, job: OfJob = None) -> None:
    """List invitations. Expired ones are listed for a month.

    Example: cadenza people invitations --job shop
    """
    columns = [
        Column("address", lambda invitation: invitation["email"]),
        Column("role", _role),
        Column("state", lambda invitation: _state(out, invitation)),
        Column("by", lambda invitation: invitation["invited_by"], rank=1),
        Column("id", lambda invitation: invitation["id"], is_id=True),
    ]
    nothing = "No open invitations. Create one: cadenza people invite ADDRESS --role viewer"
    out.rows(api.get(f"{_path(api, job)}/invitations")["items"], columns, nothing)


@command(cli, "revoke-invitation")
def revoke_invitation(
    api: Api,
    out: Output,
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="The email address or id of the invitation.")
    ],
    job: OfJob = None,
    yes: Yes = False,
) -> None:
    """Revoke an invitation. Its link stops working.

    Example: cadenza people revoke-invitation ada@example.org
    """
    path = f"{_path(api, job)}/invitations"
    waiting = [
        {**invitation, "name": invitation["email"]}
        for invitation in api.get(path)["items"]
        if invitation["accepted_at"] is None and invitation["revoked_at"] is None
    ]
    invitation = one_of(waiting, "invitation", address, "cadenza people invitations")
    ask(f"Revoke the invitation of {invitation['email']}?", yes=yes)
    revoked = api.delete(f"{path}/{invitation['id']}")
    out.done(revoked, f"Revoked the invitation of {revoked['email']}.")


@command(cli, "role")
def change_role(
    api: Api,
    out: Output,
    person: Person,
    role: InTenant = None,
    job: ForJobs = None,
) -> None:
    """Replace all roles of a person. Takes effect at once.

    Example: cadenza people role ada@example.org --role viewer --job shop=operator
    """
    body = _access(api, role, job)
    changed = api.put(f"/people/{_find(api, person)['id']}/role", body, {}, timeout=30)
    out.done(changed, f"{changed['name']} is {_role(changed)} now.")


@command(cli, "give")
def give_role(
    api: Api,
    out: Output,
    person: Person,
    job: Annotated[
        str, typer.Argument(metavar="JOB=ROLE", help="A job and a role: viewer, operator or owner.")
    ],
) -> None:
    """Give a person a role in one job. Other roles are kept.

    Example: cadenza people give ada@example.org shop=operator
    """
    wanted, user = _job_role(api, job), _user(api, person)
    path = f"/jobs/{wanted['job_id']}/people/{user['id']}"
    member = api.put(path, {"role": wanted["role"]}, {}, timeout=30)
    name = job.rpartition("=")[0]
    out.done(member, f"{member['name']} is {member['role']} of {name} now.")


@command(cli, "take")
def take_role(
    api: Api,
    out: Output,
    person: Person,
    job: Annotated[str, typer.Argument(metavar="JOB", help="A job's name or id.")],
) -> None:
    """Remove a person's role in one job. Other roles are kept.

    Example: cadenza people take ada@example.org shop
    """
    taken = api.delete(f"{_path(api, job)}/people/{_user(api, person)['id']}")
    out.done(taken, f"{taken['name']} no longer has a role of their own in {job}.")


@command(cli, "remove")
def remove(api: Api, out: Output, person: Person, yes: Yes = False) -> None:
    """Remove a person. Their keys and sign-ins stop working at once.

    Example: cadenza people remove ada@example.org
    """
    user = _find(api, person)
    ask(f"Remove {user['name']}? Their keys and sign-ins stop working at once.", yes=yes)
    out.done(api.delete(f"/people/{user['id']}"), f"Removed {user['name']}.")


def _find(api: Api, name: str) -> Item:
    return one_of(api.get("/people")["items"], "person", name, "cadenza people list")


def _user(api: Api, name: str) -> Item:
    """Whose roles are not asked for: those are for owners of the tenant."""
    return one_of(api.get("/users")["items"], "person", name, "cadenza keys users")


def _path(api: Api, job: str | None) -> str:
    return "" if job is None else f"/jobs/{find_job(api, job)['id']}"


def _access(api: Api, role: Role | None, jobs: list[str] | None) -> Item:
    if role is None and not jobs:
        raise usage("Missing a role: use --role viewer, operator or owner, or --job JOB=ROLE.")
    return {"role": role, "jobs": [_job_role(api, text) for text in jobs or ()]}


def _job_role(api: Api, text: str) -> Item:
    name, equals, role = text.rpartition("=")
    if not equals or role not in tuple(Role):
        raise usage(f"JOB=ROLE: {plain(text)!r}: write a job and a role, such as shop=operator")
    return {"job_id": find_job(api, name)["id"], "role": role}


def _role(person: Item) -> str:
    if person["role"] is None:
        return "for single jobs"
    return f"{person['role']}, and more" if person["jobs"] else person["role"]


def _state(out: Output, invitation: Item) -> str:
    if invitation["accepted_at"]:
        return f"accepted {out.times.relative(invitation['accepted_at'])}"
    if invitation["revoked_at"]:
        return f"revoked {out.times.relative(invitation['revoked_at'])}"
    return f"ends {out.times.relative(invitation['expires_at'])}"
