"""The shape of a CEL expression: its macros, the values they use, and what they may multiply.

The library reports none of this, so the expression is read once more, from its tokens.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

Path = tuple[str, ...]  # a name, and the first field that is taken from it

MAX_NESTED = 2  # a macro in a macro
MAX_BRACKETS = 24
MAX_PATTERN = 200
BYTES_IN_A_UNIT = 100

_MACROS = frozenset(("all", "exists", "exists_one", "existsOne", "map", "filter"))
TYPES = frozenset(
    ("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint")
)
_WORDS = TYPES | {"true", "false", "null", "in"}
_TOKEN = re.compile(
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
_REPEATED = re.compile(r"\{(\d*),?(\d*)\}")
_HIDDEN = re.compile(r"\\[xXuU0-7]")  # escapes that the library decodes, and we do not
_CLASS = re.compile(r"\\[a-zA-Z]|\[\^|\.")  # of characters; those of all alphabets are large
_CLASS_UNITS = {"\\w": 2000, "\\W": 2000, "\\p": 1500, "\\P": 1500}


class TooComplex(Exception):
    """An expression that may not be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, which the library compiles anew at every use."""

    parts: int
    units: int  # to compile it
    written: str  # with its quotes

    @staticmethod
    def of(text: str) -> "Pattern":
        repeats = [max(int(count or 1) for count in pair) for pair in _REPEATED.findall(text)]
        times = prod(repeats) if "(" in text else max(repeats, default=1)
        classes = sum(_CLASS_UNITS.get(name, 200) for name in _CLASS.findall(text))
        units = 100 + times * (3 * len(text) + classes)
        return Pattern(len(text) * (1 + sum(repeats)), units, text)


@dataclass(slots=True)
class Scope:
    """A part of an expression that is evaluated together: all of it, or the inside of a macro."""

    macro: str = ""
    variable: str = ""
    steps: int = 0
    paths: list[Path] = field(default_factory=list[Path])
    copies: int = 1  # how many times a value may be in the result
    writes_values: bool = False  # a list or map in the expression holds one of the values
    commas: int = 0
    text: int = 0  # characters of the longest that is written in it
    patterns: list[Pattern] = field(default_factory=list[Pattern])
    inner: list["Scope"] = field(default_factory=list["Scope"])

    def outer_paths(self) -> Iterator[Path]:
        """What it mentions besides its own element."""
        return (path for path in self.paths if path[0] != self.variable)

    def all(self) -> Iterator["Scope"]:
        yield self
        for scope in self.inner:
            yield from scope.all()


def shape_of(expression: str) -> Scope:
    return _Reader(tokens_of(expression)).read()


def tokens_of(expression: str) -> list[Token]:
    matches = _TOKEN.finditer(expression)
    return [
        Token(match.lastgroup or "", match[0]) for match in matches if match.lastgroup != "blank"
    ]


class _Reader:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._open: list[tuple[str, Scope]] = []  # the brackets around, and the scope in each
        self._scope = Scope()

    def read(self) -> Scope:
        for at, token in enumerate(self._tokens):
            if token.text in ("(", "[", "{"):
                self._enter(at, token.text)
            elif token.text in (")", "]", "}"):
                if self._open:
                    _, self._scope = self._open.pop()
            elif token.kind == "name":
                self._name(at, token.text)
            elif token.text == ",":
                self._scope.commas += 1
            else:
                self._scope.steps += 1 + len(token.text) // BYTES_IN_A_UNIT
                self._scope.copies += token.text == "+"
                if token.kind == "text" and self._text(at - 2) != "matches":
                    self._scope.text = max(self._scope.text, len(token.text))
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
        is_literal = bracket == "{" or (bracket == "[" and not self._ends_value(at - 1))
        self._open.append(("literal" if is_literal else bracket, self._scope))
        if len(self._open) > MAX_BRACKETS:
            raise TooComplex(f"its brackets are nested more than {MAX_BRACKETS} deep")
        self._scope.steps += 1
        before = self._text(at - 1)
        if bracket == "(" and before == "matches":
            self._scope.patterns.append(self._pattern(at))
        if bracket == "(" and before in _MACROS and self._text(at - 2) == ".":
            variable = self._text(at + 1)
            if variable in _WORDS:
                why = "which has a meaning in CEL"
                raise TooComplex(f"an element cannot be called {variable}, {why}")
            inner = Scope(before, variable)
            self._scope.inner.append(inner)
            self._scope = inner
            nested = len({id(scope) for _, scope in self._open})
            if nested > MAX_NESTED:
                raise TooComplex(f"its macros are nested more than {MAX_NESTED} deep")

    def _name(self, at: int, name: str) -> None:
        if name.startswith("__"):
            raise TooComplex(f"names such as {name} belong to CEL itself")
        self._scope.steps += 1
        is_field = self._text(at - 1) == "." and self._ends_value(at - 2)
        is_call = self._text(at + 1) == "("
        if is_field or is_call or name in _WORDS:
            return
        self._scope.paths.append(self._path(at, name))
        if any(bracket == "literal" for bracket, _ in self._open):
            self._scope.copies += 1
            self._scope.writes_values = True

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

    def _pattern(self, at: int) -> Pattern:
        pattern, end = self._tokens[at + 1 : at + 2], self._text(at + 2)
        if not pattern or pattern[0].kind != "text" or end != ")":
            raise TooComplex("the pattern of matches() must be written out")
        text = pattern[0].text
        if len(text) > MAX_PATTERN:
            raise TooComplex(f"the pattern of matches() is longer than {MAX_PATTERN} characters")
        if text[0] not in "rR" and _HIDDEN.search(text.replace(r"\\", "")):
            raise TooComplex(r"the pattern of matches() must be plain: r'\d+', without \x and \u")
        return Pattern.of(text)
