"""The shape of a CEL expression: its macros, the values they use, and its patterns.

The library reports none of this, so the expression is read once more, from its tokens.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Path = tuple[str, ...]  # a name, and the first field that is taken from it

MAX_NESTED = 2  # a macro in a macro
MAX_BRACKETS = 24
MAX_PATTERN = 200
MAX_PATTERNS = 8

_MACROS = frozenset(("all", "exists", "exists_one", "existsOne", "map", "filter"))
TYPES = frozenset(
    ("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint")
)
_WORDS = TYPES | {"true", "false", "null", "in"}
TOKEN = re.compile(
    r"""
    (?P<blank> \s+ | //[^\n]*)
  | (?P<text> [bB]?[rR][bB]?(?: \"\"\".*?\"\"\" | '''.*?''' | "[^"\n]*" | '[^'\n]*')
          | [bB]?(?: \"\"\"(?:\\.|[^\\])*?\"\"\" | '''(?:\\.|[^\\])*?'''
                   | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'))
  | (?P<number> (?:\d|\.\d)[\w.]*)
  | (?P<name> [A-Za-z_]\w*)
  | (?P<sign> && | \|\| | [=!<>]= | .)
    """,
    re.VERBOSE | re.DOTALL,
)
_HIDDEN = re.compile(r"\\[xXuU0-7]")  # escapes that the library decodes, and we do not


class TooComplex(Exception):
    """An expression that may not be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str


@dataclass(slots=True)
class Scope:
    """A part of an expression that is evaluated together: all of it, or the inside of a macro."""

    variable: str = ""  # of a macro
    paths: list[Path] = field(default_factory=list[Path])
    patterns: list[str] = field(default_factory=list[str])
    inner: list["Scope"] = field(default_factory=list["Scope"])

    def all(self) -> Iterator["Scope"]:
        yield self
        for scope in self.inner:
            yield from scope.all()


def shape_of(expression: str) -> Scope:
    return _Reader(tokens_of(expression)).read()


def tokens_of(expression: str) -> list[Token]:
    matches = TOKEN.finditer(expression)
    return [
        Token(match.lastgroup or "", match[0]) for match in matches if match.lastgroup != "blank"
    ]


class _Reader:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._open: list[Scope] = []  # around each bracket that is open
        self._scope = Scope()
        self._patterns = 0

    def read(self) -> Scope:
        for at, token in enumerate(self._tokens):
            if token.text in ("(", "[", "{"):
                self._enter(at, token.text)
            elif token.text in (")", "]", "}"):
                if self._open:
                    self._scope = self._open.pop()
            elif token.kind == "name":
                self._name(at, token.text)
        return self._scope

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _ends_value(self, at: int) -> bool:
        if not 0 <= at < len(self._tokens):
            return False
        token = self._tokens[at]
        if token.kind == "name":
            return token.text not in _WORDS
        return token.kind in ("text", "number") or token.text in (")", "]", "}")

    def _enter(self, at: int, bracket: str) -> None:
        self._open.append(self._scope)
        if len(self._open) > MAX_BRACKETS:
            raise TooComplex(f"its brackets are nested more than {MAX_BRACKETS} deep")
        before = self._text(at - 1)
        if bracket == "(" and before == "matches":
            self._scope.patterns.append(self._pattern(at))
        if bracket == "(" and before in _MACROS and self._text(at - 2) == ".":
            variable = self._text(at + 1)
            if variable in _WORDS:
                why = "which has a meaning in CEL"
                raise TooComplex(f"an element cannot be called {variable}, {why}")
            inner = Scope(variable)
            self._scope.inner.append(inner)
            self._scope = inner
            nested = len({id(scope) for scope in self._open})
            if nested > MAX_NESTED:
                raise TooComplex(f"its macros are nested more than {MAX_NESTED} deep")

    def _name(self, at: int, name: str) -> None:
        if name.startswith("__"):
            raise TooComplex(f"names such as {name} belong to CEL itself")
        is_field = self._text(at - 1) == "." and self._ends_value(at - 2)
        is_call = self._text(at + 1) == "("
        if is_field or is_call or name in _WORDS:
            return
        self._scope.paths.append(self._path(at, name))

    def _path(self, at: int, name: str) -> Path:
        """`body.limit` or `body["limit"]`; where something else follows, all of it counts."""
        follows = self._tokens[at + 1 : at + 4]
        match [token.text for token in follows]:
            case [".", key, *after] if after[:1] != ["("]:
                return (name, key)
            case ["[", key, "]"] if follows[1].kind == "text" and key[0] in "\"'":
                return (name, key.strip(key[0]))
            case _:
                return (name,)

    def _pattern(self, at: int) -> str:
        """The one argument of `text.matches('…')`, as the engine reads it."""
        pattern, end = self._tokens[at + 1 : at + 2], self._text(at + 2)
        if not pattern or pattern[0].kind != "text" or end != ")":
            raise TooComplex("the pattern of matches() must be written out")
        self._patterns += 1
        if self._patterns > MAX_PATTERNS:
            raise TooComplex(f"it has more than {MAX_PATTERNS} patterns")
        text = pattern[0].text
        if len(text) > MAX_PATTERN:
            raise TooComplex(f"the pattern of matches() is longer than {MAX_PATTERN} characters")
        if text[0] not in "rR" and _HIDDEN.search(text.replace(r"\\", "")):
            raise TooComplex(r"the pattern of matches() must be plain: r'\d+', without \x and \u")
        return text
