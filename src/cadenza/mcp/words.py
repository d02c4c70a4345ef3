"""What went wrong, for a model: what was refused, and what to do about it."""

from cadenza.client.errors import ApiProblem, NoSuchName, NotCadenza, Unreachable
from cadenza.domain.errors import CadenzaError

MOST_FIELDS = 20
LONGEST = 4_000
_ADVICE = {
    401: "Tell the person: the key is not valid; `cadenza keys create` makes another.",
    403: "Do not try again: tell the person that this key may not do it, and which scope it needs.",
    404: "List or search first; names can be used instead of ids, an endpoint's as job/endpoint.",
    412: "It has changed in the meantime: read it again before you change it.",
    429: "Wait, then ask for less at once.",
}


def words_of(error: CadenzaError) -> str:
    if isinstance(error, ApiProblem):
        fields = [str(problem) for problem in error.fields[:MOST_FIELDS]]
        parts = [error.title, *(fields or [error.detail]), _ADVICE.get(error.status, "")]
        return "\n".join(part for part in dict.fromkeys(parts) if part)[:LONGEST]
    if isinstance(error, NoSuchName):
        return f"{error}. {_ADVICE[404]}"[:LONGEST]
    if isinstance(error, Unreachable):
        return f"{error}. Tell the person: is it up (`cadenza up`), and is --server right?"
    if isinstance(error, NotCadenza):
        return f"{error}. Tell the person: is --server right?"
    return str(error)[:LONGEST]
