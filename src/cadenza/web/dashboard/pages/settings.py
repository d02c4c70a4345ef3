"""Keys, signing keys, people, limits, and where one is signed in."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.accounts import NewKey, TenantChange
from cadenza.application.ports.activity import Activity, ActivityBucket, ActivitySearch
from cadenza.domain.access import Scope, User
from cadenza.domain.definition import check_name
from cadenza.domain.errors import InvalidInput
from cadenza.web.api.parsing.bodies import KeyRotationBody, SigningKeyBody, validated
from cadenza.web.dashboard.forms import MENDABLE, NO_PROBLEMS, Form, Problems, problems_of, read_all
from cadenza.web.dashboard.rendering import done, page
from cadenza.web.dashboard.visitor import Admin, PageDependencies, Reader, Sent, Visitor

routes = APIRouter()
ENTRY = "/settings"
DAYS, WORKERS = 14, 50  # that are shown
KEY_FIELDS = ("name", "scope", "user", "days")
SCOPES = {
    Scope.READ: "read: view everything",
    Scope.OPERATE: "operate: also run, pause, create and edit",
    Scope.ADMIN: "admin: also keys, people and limits",
}


@routes.get("/settings")
async def show_settings(
    request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    return await _settings(request, visitor, dependencies)


async def _settings(
    request: Request,
    visitor: Visitor,
    dependencies: PageDependencies,
    form: Form | None = None,
    problems: Problems = NO_PROBLEMS,
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    search = _last_days(dependencies)
    activity = await reads.activity.run_activity(tenant_id, search)
    is_admin, users = visitor.may_admin, await reads.tenants.list_users(tenant_id)
    others = {str(user.id): user.name for user in users if user.id != visitor.caller.user_id}
    return await page(
        request,
        "settings.html",
        entry=ENTRY,
        tenant=await reads.tenants.get_tenant(tenant_id),
        users=users,
        people={"": "yourself", **others},
        usage=await reads.usage.usage(tenant_id),
        activity=activity,
        days=_each_day(search, activity),
        workers=await reads.workers.list_workers(WORKERS),
        keys=await reads.keys.list_keys(tenant_id) if is_admin else (),
        signing_keys=await reads.signing_keys.keys_of(tenant_id) if is_admin else (),
        scopes=SCOPES,
        form=form or Form({"scope": Scope.READ}),
        problems=problems,
    )


def _last_days(dependencies: PageDependencies) -> ActivitySearch:
    """By whole days, today's with them."""
    day = timedelta(days=1)
    today = dependencies.around.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    return ActivitySearch(today - (DAYS - 1) * day, today + day, day)


def _each_day(search: ActivitySearch, activity: Activity) -> list[ActivityBucket]:
    """Also those on which nothing ran, so that a day is as wide as another."""
    known = {bucket.from_at: bucket for bucket in activity.buckets}
    starts = [search.from_at + number * search.width for number in range(DAYS)]
    return [known.get(at) or ActivityBucket(at, {}, 0, 0) for at in starts]


# --- Keys -------------------------------------------------------------------------------------


@routes.post("/settings/keys")
async def create_key(
    request: Request, form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    try:
        users = await dependencies.reads.tenants.list_users(visitor.caller.tenant_id)
        wanted = _new_key(form, visitor, users, dependencies.around.clock.now())
        key, token = await dependencies.keys.create(visitor.caller, wanted)
    except MENDABLE as error:
        problems = problems_of(error, KEY_FIELDS)
        return await _settings(request, visitor, dependencies, form, problems)
    return await _new_secret(request, "key", key.name, token)


@routes.post("/settings/keys/{key_id}/rotate")
async def rotate_key(
    key_id: UUID, request: Request, form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    overlap = validated(KeyRotationBody, _filled(form, "overlap")).parsed()
    key, token = await dependencies.keys.rotate(visitor.caller, key_id, overlap)
    return await _new_secret(request, "key", key.name, token)


@routes.post("/settings/keys/{key_id}/revoke")
async def revoke_key(
    key_id: UUID, _form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    key = await dependencies.keys.revoke(visitor.caller, key_id)
    return done(ENTRY, f"Key {key.name} revoked.")


async def _new_secret(request: Request, kind: str, name: str, secret: str) -> Response:
    """In the answer itself, and nowhere else: it is never shown again."""
    return await page(
        request, "new_secret.html", entry=ENTRY, kind=kind, name=name, secret=secret, back=ENTRY
    )


# --- Signing keys, limits ---------------------------------------------------------------------


@routes.post("/settings/signing-keys")
async def create_signing_key(
    request: Request, form: Sent, visitor: Admin, dependencies: PageDependencies
) -> Response:
    wish = {**_filled(form, "overlap"), "no_overlap": form.optional("no_overlap") is not None}
    body = validated(SigningKeyBody, wish)
    caller, secret = visitor.caller, dependencies.around.new_signing_secret()
    key = await dependencies.signing_keys.rotate(
        caller.actor, caller.tenant_id, secret, body.parsed()
    )
    return await _new_secret(request, "signing key", str(key.id), key.secret.value)


@routes.post("/settings/retention")
async def change_retention(form: Sent, visitor: Admin, dependencies: PageDependencies) -> Response:
    days = _days(form, "retention_days", 3650)
    await dependencies.tenants.change(visitor.caller, TenantChange({"retention_days": days}))
    return done(ENTRY, "Retention saved.")


def _filled(form: Form, name: str) -> dict[str, Any]:
    """Nothing where it was left empty."""
    return {name: form.text(name)} if form.optional(name) else {}


def _new_key(form: Form, visitor: Visitor, users: Sequence[User], now: datetime) -> NewKey:
    wish = read_all(
        {
            "name": lambda: check_name("name", form.text("name")),
            "user": lambda: _user(form, visitor, users),
            "scope": lambda: _scope(form),
            "end": lambda: _end(form, now),
        }
    )
    return NewKey(form.text("name"), (wish["scope"],), wish["user"], wish["end"])


def _user(form: Form, visitor: Visitor, users: Sequence[User]) -> UUID:
    """Whom a key acts for: yourself unless somebody else is chosen."""
    chosen = form.optional("user")
    if chosen is None:
        return visitor.caller.user_id
    for user in users:
        if str(user.id) == chosen:
            return user.id
    raise InvalidInput("user", chosen, "one of the people of this tenant")


def _scope(form: Form) -> Scope:
    try:
        return Scope(form.text("scope"))
    except ValueError as error:
        raise InvalidInput("scope", form.text("scope"), f"one of {', '.join(Scope)}") from error


def _end(form: Form, now: datetime) -> datetime | None:
    days = _days(form, "days", 3650)
    return None if days is None else now + timedelta(days=days)


def _days(form: Form, name: str, most: int) -> int | None:
    text = form.optional(name)
    if text is None:
        return None
    if not text.isdecimal() or len(text) > 6 or not 1 <= int(text) <= most:
        raise InvalidInput(name, text, f"a whole number of days, from 1 to {most}")
    return int(text)
