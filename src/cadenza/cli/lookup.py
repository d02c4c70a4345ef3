"""Find what a person names where the API wants ids: a job, `job/endpoint`, or an endpoint alone
where its name is unique."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any
from uuid import UUID

from cadenza.cli.client import Api
from cadenza.cli.errors import ApiError, CommandError, ExitCode, usage
from cadenza.cli.terminal_text import plain, quoted

Item = dict[str, Any]
MOST_LOOKED_AT = 1000  # names among which the nearest are searched
SUGGESTED = 5
MAX_NAME = 100
_BEGINNING = re.compile(r"[0-9A-Fa-f]{8}[0-9A-Fa-f-]{0,28}")  # of an id


class EndpointNames:
    """Names by id, each asked for once."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: dict[str, str] = {}

    def of(self, endpoint_id: str) -> str:
        if endpoint_id not in self._known:
            endpoint = by_id(self._api, "/endpoints", endpoint_id)
            self._known[endpoint_id] = full_name(endpoint) if endpoint else endpoint_id
        return self._known[endpoint_id]


class Myself:
    """The id of whose key it is, asked for once, and only where it is needed."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._id: str | None = None

    def id_for(self, run: Item) -> str | None:
        author = run.get("asked_by")
        if self._id is None and author is not None and author["kind"] == "person":
            self._id = self._api.get("/me")["user_id"]
        return self._id


def find_job(api: Api, name: str) -> Item:
    return find_named(api, "job", name)


def find_account(api: Api, name: str) -> Item:
    return find_named(api, "account", name)


def find_named(api: Api, kind: str, name: str) -> Item:
    """By id or by its name, which is unique; both are asked of the server."""
    path = f"/{kind}s"
    item = by_id(api, path, name) or next(named(api, path, name), None)
    item = item or by_beginning(api, kind, path, name)
    if item is not None:
        return item
    if kind == "job" and (archived := next(named(api, path, name, {"archived": True}), None)):
        raise ArchivedError(f"The job {archived['name']}", "jobs", archived["name"])
    known = (item["name"] for item in api.pages(path, MOST_LOOKED_AT))
    raise unknown(kind, name, known, f"cadenza {kind}s list")


def find_endpoint(api: Api, name: str) -> Item:
    job, slash, own_name = name.partition("/")
    query: Item = {"job_id": find_job(api, job)["id"]} if slash else {}
    if not slash and (endpoint := by_id(api, "/endpoints", name)) is not None:
        return endpoint
    several = list(named(api, "/endpoints", own_name if slash else name, query))
    if len(several) > 1:
        candidates = _listed(map(full_name, several[:SUGGESTED]))
        candidates += ", …" if len(several) > SUGGESTED else ""
        raise usage(f"Several endpoints are named {plain(name)!r}. Which one? {candidates}")
    if several:
        return several[0]
    if not slash and (endpoint := by_beginning(api, "endpoint", "/endpoints", name)) is not None:
        return endpoint
    gone = {**query, "state": "archived"}
    if archived := next(named(api, "/endpoints", own_name if slash else name, gone), None):
        raise ArchivedError(full_name(archived), "endpoints", full_name(archived))
    known = map(full_name, api.pages("/endpoints", MOST_LOOKED_AT, query))
    # Within one job every name begins alike, which would make all of them near.
    raise unknown("endpoint", name, known, "cadenza endpoints list", own_name if slash else name)


class ArchivedError(CommandError):
    """It has the name that was given, and is archived."""

    def __init__(self, what: str, group: str, name: str) -> None:
        fix = f"Restore it: cadenza {group} restore {quoted(name)}"
        super().__init__(f"{plain(what)} is archived. {fix}", ExitCode.NOT_FOUND)


def job_and_name(api: Api, name: str) -> tuple[Item, str]:
    """`shop/queue`: the job, and the name that its endpoint shall have."""
    job, slash, own = name.partition("/")
    if not (job and slash and own) or "/" in own:
        raise usage(
            f"{plain(name)!r} is not JOB/NAME. Write the job and the endpoint, such as shop/queue."
        )
    try:
        return find_job(api, job), own
    except CommandError as error:
        if error.exit_code is not ExitCode.NOT_FOUND or isinstance(error, ArchivedError):
            raise
        fix = f"Create it first: cadenza jobs create {quoted(job)}"
        raise CommandError(f"{error} {fix}", ExitCode.NOT_FOUND) from error


def full_name(endpoint: Item) -> str:
    return f"{endpoint['job_name']}/{endpoint['name']}"


def one_of(items: Iterable[Item], kind: str, name: str, command: str) -> Item:
    """By id or by name, of a list that is there already; a name may be that of several."""
    listed = list(items)
    matching = [item for item in listed if name in (item["id"], item["name"])]
    if not matching and _BEGINNING.fullmatch(name):
        matching = [item for item in listed if item["id"].startswith(name.lower())]
    if len(matching) > 1:
        ids = _listed(item["id"] for item in matching)
        raise usage(f"Several {kind}s are named {plain(name)!r}. Which one? {ids}")
    if matching:
        return matching[0]
    raise unknown(kind, name, (item["name"] for item in listed), command)


def named(api: Api, path: str, name: str, query: Item | None = None) -> Iterator[Item]:
    if not 0 < len(name) <= MAX_NAME:
        return iter(())
    return api.pages(path, 20, {**(query or {}), "name": name})


def by_id(api: Api, path: str, text: str) -> Item | None:
    try:
        return api.get(f"{path}/{UUID(text)}")
    except ValueError:
        return None  # a name
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def by_beginning(api: Api, kind: str, path: str, text: str) -> Item | None:
    """By how its id begins, as lists show it; None where none does."""
    id_ = _ids(api, kind, text)
    return api.get(f"{path}/{id_}") if id_ else None


def whole_id(api: Api, kind: str, text: str) -> str:
    """Of what has no name: the id itself, from its beginning, too."""
    try:
        return str(UUID(text))
    except ValueError:
        pass
    if (id_ := _ids(api, kind, text)) is not None:
        return id_
    raise CommandError(
        f"There is no {kind} {plain(text)!r}. Give an id as lists show it, or at least its first "
        "8 characters.",
        ExitCode.NOT_FOUND,
    )


def _ids(api: Api, kind: str, text: str) -> str | None:
    if not _BEGINNING.fullmatch(text):
        return None
    matches = api.get("/ids", {"kind": kind, "begins": text.lower()})
    if len(matches["items"]) > 1:
        more = " and more" if matches["more"] else ""
        ids = f"{_listed(matches['items'])}{more}"
        raise usage(f"Several {kind}s have an id that begins with {plain(text)}. Which one? {ids}")
    return matches["items"][0] if matches["items"] else None


def unknown(
    kind: str, name: str, known: Iterable[str], command: str, like: str | None = None
) -> CommandError:
    near = nearest(like or name, list(known))
    hint = f"Did you mean {_listed(near)}?" if near else f"List them: {command}"
    return CommandError(f"There is no {kind} {plain(name)!r}. {hint}", ExitCode.NOT_FOUND)


def nearest(name: str, known: list[str]) -> list[str]:
    """Of the whole names, or of what comes after the job."""
    by_own: dict[str, list[str]] = {}
    for full in known:
        for own in {full.lower(), full.lower().rpartition("/")[2]}:
            by_own.setdefault(own, []).append(full)
    matching = get_close_matches(name.lower(), list(by_own), SUGGESTED, cutoff=0.5)
    return list(dict.fromkeys(full for own in matching for full in by_own[own]))[:SUGGESTED]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(plain(name) for name in names)
